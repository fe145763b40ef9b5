#!/usr/bin/env bash
# goals_test.sh STORE_STRESS: a number of kills or cuts that no round brings nearer
# is refused; the program would run for ever.
set -euo pipefail

# refuse EXPECTED ARGUMENT...
refuse() {
  local said status=0
  said=$(timeout 60 "$store_stress" "${@:2}" 2>&1) || status=$?
  if ((status != 2)) || [[ $said != *"$1"* ]]; then
    echo "FAILED: ${*:2} has status $status: $said"
    exit 1
  fi
}

store_stress=$1
refuse "--kills needs rounds of the kind kills" --kinds power --kills 1
refuse "--cuts needs rounds of the kind power" --kinds kills,faults --cuts 1
