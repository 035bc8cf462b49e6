#!/usr/bin/env bash
# Checks on real GPUs what lockstep batch sees of its jobs: that a job on its device is verified, that one on another
# device is wrong and ended (with two GPUs), that memory comes back from what a job leaves behind, and what
# lockstep batch analyze says. Half a minute; exit code 1 where something is not as it should be.
#   bench/batch_gpu_check.sh OUT_FILE      needs a GPU, and a python3 with torch
# Environment: LOCKSTEP (build/lockstep), DEVICES ("0,1"; all), PROGRAM (a stand-in for all jobs); LOCKSTEP_COMMIT where
# the checkout has no git history.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
# shellcheck source=bench/lib/gpu_batches.sh
. "$checkout/bench/lib/gpu_batches.sh"
[ $# = 1 ] || die "batch_gpu_check.sh takes the file to write" "bench/batch_gpu_check.sh OUT_FILE"
prepare_batches "$1"
status=0
python3 "$checkout/bench/batch_gpu_check.py" "$work/record" "$tool" "$work" --devices "${DEVICES:-}" --count "$device_count" \
  ${PROGRAM:+--program "$PROGRAM"} || status=$?
[ ! -e "$work/record" ] || mv "$work/record" "$out"
exit $status
