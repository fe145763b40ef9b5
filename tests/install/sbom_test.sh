#!/usr/bin/env bash
# sbom_test.sh SOURCE_DIR BUILD_DIR: the bill of materials of this build is whole,
# and names what is known to be in it.
set -euo pipefail

"$1/tools/sbom.py" "$2" | python3 -c '
import json, sys
bill = json.load(sys.stdin)
packages = {package["SPDXID"]: package for package in bill["packages"]}
assert all(package["versionInfo"] for package in packages.values())
kinds = {}
for relation in bill["relationships"]:
    name = packages[relation["relatedSpdxElement"]]["name"]
    kinds.setdefault(relation["relationshipType"], set()).add(name.split(":")[0])
assert kinds["DESCRIBES"] == {"rowbloom"}, kinds
assert any(name.startswith("librocksdb") for name in kinds["DEPENDS_ON"]), kinds
assert {"libxxhash-dev", "nlohmann-json3-dev"} <= kinds["CONTAINS"], kinds
assert not any("gtest" in name or "benchmark" in name for name in kinds["CONTAINS"]), kinds
'
