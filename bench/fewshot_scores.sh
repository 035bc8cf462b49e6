#!/usr/bin/env bash
# Measures `lockstep score fewshot` beside pycocotools on files as large as COCO's validation set, in turn: processor time of
# reading both files and evaluating them. Fails where a score differs by more than 1e-12. Writes a record of every run.
#   bench/fewshot_scores.sh OUT_FILE      needs a python3 with pycocotools
# Environment: BUILD is the folder of programs (build); ROUNDS (5), CONTEXT (anything that disturbed it); LOCKSTEP_COMMIT where the
# checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "fewshot_scores.sh takes the file to write" "bench/fewshot_scores.sh OUT_FILE"
tool=${BUILD:-$checkout/build}/lockstep
[ -x "$tool" ] || die "$tool is not there" "build the target lockstep-tool"
python3 -c 'import pycocotools' 2>/dev/null || die "python3 has no pycocotools" "put one that has first on PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$checkout/bench/fewshot_scores.py" "$tool" "$work" "${ROUNDS:-5}" >"$work/found"
{
  record_head "$checkout" "bench/fewshot_scores.sh OUT_FILE"
  cat "$work/found"
} >"$work/record"
mv "$work/record" "$1"
cat "$1"
