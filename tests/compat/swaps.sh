# Sourced by scripts in which databases change hands. Programs that do swap_db's
# commands have names, and are functions of the script:
# PROGRAM COMMAND DATABASES ARGUMENT...
# shellcheck shell=bash

summary=()

# check PROGRAM DATABASES: the summary has what it says.
check() {
  local said
  said=$("$1" check "$2") || fail "$1 does not find all in $2"
  echo "$said"
  summary+=("$said")
}

# swap FIRST SECOND: FIRST writes; each reads what the other wrote, compacts
# it and writes on.
swap() {
  local databases=$1-$2
  "$1" write "$databases"
  check "$2" "$databases"
  "$2" extend "$databases"
  check "$1" "$databases"
  "$1" extend "$databases"
  check "$2" "$databases"
}

print_summary() {
  printf -- '- %s\n' "${summary[@]}"
}
