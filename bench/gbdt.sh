#!/usr/bin/env bash
# Trains the same windows of prices by `lockstep batch gbdt` and by Python programs with pandas, lightgbm and
# ProcessPoolExecutor, in turn, and writes a record.
#   bench/gbdt.sh OUT_FILE DATA      DATA: a folder with a file SYMBOL.csv each
# Environment: LOCKSTEP (build/lockstep), PYTHON (python3; needs pandas and lightgbm), ROUNDS (5), SLOTS (all cores),
# STRIDE (24) and START (2015-04-01) of the windows, CONTEXT (anything that disturbed it); LOCKSTEP_COMMIT where the
# checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 2 ] || die "gbdt.sh takes the file to write and the folder of prices" "bench/gbdt.sh OUT_FILE DATA"
tool=${LOCKSTEP:-$checkout/build/lockstep} python=${PYTHON:-python3}
[ -x "$tool" ] || die "$tool is not there" "build the target lockstep"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$checkout/bench/gbdt_pairs.py" "$tool" "$2" "$work" --rounds "${ROUNDS:-5}" \
  --slots "${SLOTS:-$(usable_cores)}" --stride "${STRIDE:-24}" --start "${START:-2015-04-01}" >"$work/found"
{
  record_head "$checkout" "bench/gbdt.sh OUT_FILE DATA"
  cat "$work/found"
} >"$work/record"
mv "$work/record" "$1"
cat "$1"
