#!/usr/bin/env bash
# kernel_symbols_test.sh NM LIBRARY: kernel files define no function that the
# linker may take for that of another file. It would take any of them, and a CPU
# without the instructions of that one would stop.
set -euo pipefail

shared=$("$1" -C --defined-only "$2" |
  awk '/^kernel_.*\.o:$/ { file = $0; ++files }
       /^[^ ]*\.o:$/ && !/^kernel_/ { file = "" }
       file != "" && $2 == "W" { print file, $0 }
       END { if (files == 0) print "no kernel file in the library" }')
if [[ -n $shared ]]; then
  echo "FAILED: functions that kernels share with other files:"
  echo "$shared"
  exit 1
fi
