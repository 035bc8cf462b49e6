#!/usr/bin/env bash
# Reads a million minute bars and computes their features, by `lockstep batch gbdt --dry-run` and by pandas in turn, and
# writes a record of the processor time.
#   bench/gbdt_reading.sh OUT_FILE
# Environment: LOCKSTEP (build/lockstep), PYTHON (python3; needs pandas), ROUNDS (7), BARS (1000000), FEATURE_SET (v2), CONTEXT (anything that
# disturbed it); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "gbdt_reading.sh takes the file to write" "bench/gbdt_reading.sh OUT_FILE"
tool=${LOCKSTEP:-$checkout/build/lockstep} python=${PYTHON:-python3}
[ -x "$tool" ] || die "$tool is not there" "build the target lockstep"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$checkout/bench/gbdt_reading.py" "$tool" "$work" --rounds "${ROUNDS:-7}" --bars "${BARS:-1000000}" --feature-set "${FEATURE_SET:-v2}" >"$work/found"
{
  record_head "$checkout" "bench/gbdt_reading.sh OUT_FILE"
  cat "$work/found"
} >"$work/record"
mv "$work/record" "$1"
cat "$1"
