#!/usr/bin/env bash
# swap_test.sh CASE SWAP_DB: swap_db takes turns with itself, and notices what
# is lost on the way.
set -euo pipefail

test_case=$1
swap_db=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect_refusal TEXT: that check fails and says TEXT.
expect_refusal() {
  local said status=0
  said=$("$swap_db" check "$dir/swap" 2>&1) || status=$?
  ((status == 1)) || fail "check has status $status: $said"
  [[ $said == *"$1"* ]] || fail "check does not say '$1': $said"
  echo "$said"
}

"$swap_db" write "$dir/swap"
case $test_case in
  turns)
    "$swap_db" check "$dir/swap"
    "$swap_db" extend "$dir/swap"
    "$swap_db" extend "$dir/swap"
    said=$("$swap_db" check "$dir/swap")
    echo "$said"
    [[ $said == *" 24 databases loaded strictly" ]] ||
      fail "the options of this RocksDB are not its own"
    ;;
  lost_key)
    "$swap_db" lose-key "$dir/swap"
    expect_refusal "lost: get of key"
    ;;
  lost_filters)
    "$swap_db" lose-filters "$dir/swap"
    expect_refusal "filters not used: gets of absent rows skipped 0 files"
    ;;
  lost_policy)
    sed -i 's/^  filter_policy=.*/  filter_policy=nullptr/' \
      "$dir"/swap/*/OPTIONS-*
    expect_refusal "filters not used: OPTIONS name policy none"
    ;;
  lost_database)
    rm -r "$dir/swap/u16-ROWCOL-full"
    expect_refusal "u16-ROWCOL-full: "
    ;;
  *) fail "unknown case $test_case" ;;
esac
