#!/usr/bin/env python3
"""Prints the software bill of materials of a build, as SPDX 2.3 in JSON.

    tools/sbom.py BUILD_DIR

The list is that of the build itself: the Debian packages of the shared
libraries that rowbloom's programs and libraries load, and of the headers that
their sources include, which are compiled into them. Needs ninja, ldd and dpkg.
Exits with 1 if a file belongs to no package.
"""
import json
import os
import re
import subprocess
import sys

PRODUCTS = ("lib/", "storage/", "tools/")
BINARIES = ("storage/c/librowbloom.so", "storage/filter_policy/librowbloom_plugin.so",
            "tools/rowbloom/rowbloom", "tools/sst_inspect/sst_inspect")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def loaded_libraries(build):
    """The shared libraries that the binaries load, by their paths."""
    paths = set()
    for binary in (os.path.join(build, name) for name in BINARIES):
        if not os.path.exists(binary):
            sys.exit(f"sbom: {binary} is not built")
        for line in output("ldd", binary).splitlines():
            found = re.search(r"=> (/\S+)", line)
            if found and not os.path.realpath(found[1]).startswith(build):
                paths.add(os.path.realpath(found[1]))
    return paths


def included_headers(build):
    """The headers outside of the project that the products' sources include."""
    paths = set()
    is_product = False
    for line in output("ninja", "-C", build, "-t", "deps").splitlines():
        if line and not line[0].isspace():
            is_product = line.startswith(PRODUCTS)
        elif is_product and line.strip().startswith("/usr/"):
            paths.add(os.path.realpath(line.strip()))
    return paths


def packages_of(paths):
    """Names of the packages that have the files."""
    # Debian's files moved from /lib to /usr/lib, and dpkg knows some as before.
    known = {}
    for start in range(0, len(paths), 500):
        part = sorted(paths)[start:start + 500]
        asked = part + [path[4:] for path in part if path.startswith("/usr/lib/")]
        answer = subprocess.run(["dpkg", "-S", *asked], capture_output=True, text=True)
        for line in answer.stdout.splitlines():
            names, path = line.rsplit(": ", 1)
            known[path] = names.split(", ")[0]
    names = set()
    for path in paths:
        name = known.get(path) or known.get(path.removeprefix("/usr"))
        if name is None:
            sys.exit(f"sbom: {path} belongs to no package")
        names.add(name)
    return names


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, supplier, license_declared):
    return {
        "SPDXID": spdx_id(name),
        "name": name,
        "versionInfo": version,
        "supplier": supplier,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": license_declared,
        "copyrightText": "NOASSERTION",
    }


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    build = os.path.realpath(sys.argv[1])
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.+)$", cache.read(), re.M)[1]
    loaded = packages_of(loaded_libraries(build))
    included = packages_of(included_headers(build)) - loaded
    packages = [package("rowbloom", version, "NOASSERTION", "Apache-2.0")]
    relationships = [{"spdxElementId": "SPDXRef-DOCUMENT",
                      "relationshipType": "DESCRIBES",
                      "relatedSpdxElement": spdx_id("rowbloom")}]
    for kind, names in (("DEPENDS_ON", loaded), ("CONTAINS", included)):
        for name in sorted(names):
            installed = output("dpkg-query", "-W", "-f=${Version}", name)
            packages.append(package(name, installed, "Organization: Debian", "NOASSERTION"))
            relationships.append({"spdxElementId": spdx_id("rowbloom"),
                                  "relationshipType": kind,
                                  "relatedSpdxElement": spdx_id(name)})
    created = output("date", "-u", "+%Y-%m-%dT%H:%M:%SZ").strip()
    json.dump({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"rowbloom-{version}",
        "documentNamespace": f"urn:rowbloom:{version}:{created}",
        "creationInfo": {"created": created, "creators": ["Tool: rowbloom-sbom"]},
        "packages": packages,
        "relationships": relationships,
    }, sys.stdout, indent=1)
    print()


main()
