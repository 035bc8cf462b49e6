#!/usr/bin/env bash
# Runs the tests that need a GPU or a Python with torch, and records the run in bench/results/: commit, on how many
# GPUs, and by name what was left out.
#   gpu-test.sh FOLDER [CTEST-OPTION…]
# Environment: RECORD, the file of the record (bench/results/gpu-tests.toml); TEST_UNTIL as in test.sh; LOCKSTEP_COMMIT
# names the commit where the checkout has no git history.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/gpus.sh
. "$here/lib/gpus.sh"
# shellcheck source=scripts/lib/torch.sh
. "$here/lib/torch.sh"

find_gpus
[ -n "$gpus" ] || die "no NVIDIA GPU on this machine" "run it on a machine with one; make test skips these tests elsewhere"
folder=$1
shift

counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
status=0 jobs=$((4 * $(smi name | wc -l)))
# More at once only wait for each other: nearly all of them take the first GPU, or the first two.
if ((jobs > 8)); then jobs=8; fi
command="make gpu-test"
if [ $# -gt 0 ]; then command="scripts/gpu-test.sh FOLDER $*"; fi
TEST_JOBS=$jobs TEST_RECORD=$counts "$here/test.sh" "$folder" -L 'gpu|python' "$@" || status=$?
[ -s "$counts" ] || die "the tests did not run: there is nothing to record" "see ctest's message above"

commit=$(measured_commit "$checkout")
record=${RECORD:-$checkout/bench/results/gpu-tests.toml}
# A build that was brought here was made with a torch that is not on this machine.
torch=$(torch_version "$(cat "$checkout/.lockstep/torch" 2>/dev/null)")
if [ -z "$torch" ]; then torch=$(python3 -c 'import torch; print(torch.__version__)' 2>/dev/null) || torch=unknown; fi
mkdir -p "$(dirname "$record")"
{
  echo "# The last run of the tests that need GPUs; written by scripts/gpu-test.sh."
  echo "command = \"$command\""
  echo "date = $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "commit = \"$commit\""
  echo "gpus = $(smi name | wc -l)"
  echo "devices = [$(smi name | sed 's/.*/"&"/' | paste -sd, | sed 's/,/, /g')]"
  echo "driver = \"$(smi driver_version | sed -n 1p)\""
  echo "torch = \"$torch\""
  cat "$counts"
} >"$record"
say "recorded in ${record#"$checkout/"}"
exit "$status"
