#!/usr/bin/env bash
# Measures what many volumes cost: the first start, later ones with and without their files in memory, and the memory of
# tool and worker while patches of all of them are trained on. Writes a record.
#   bench/volume_start.sh OUT_FILE      needs a python3 with numpy and tifffile
# Environment: LOCKSTEP (build/lockstep), VOLUMES (806), EDGE (96), STEPS (200), CONTEXT (anything that disturbed it);
# LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "volume_start.sh takes the file to write" "bench/volume_start.sh OUT_FILE"
tool=${LOCKSTEP:-$checkout/build/lockstep} volumes=${VOLUMES:-806} edge=${EDGE:-96} steps=${STEPS:-200}
[ -x "$tool" ] || die "$tool is not there" "build the targets lockstep and lockstep-worker"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$checkout/bench/volume_set.py" "$work/data" "$volumes" "$edge"
python3 "$checkout/bench/volume_start.py" "$tool" "$work" "$steps" >"$work/found"
{
  record_head "$checkout" "bench/volume_start.sh OUT_FILE"
  printf '# %s volumes of %s^3 bytes with labels, deflate TIFF; preset=small\n' "$volumes" "$edge"
  cat "$work/found"
} >"$work/record"
mv "$work/record" "$1"
cat "$1"
