#!/usr/bin/env bash
# Runs the tests that need a GPU or a Python with torch, and records the run in bench/results/: commit, on how many
# GPUs, and by name what was left out.
#   gpu-test.sh FOLDER [CTEST-OPTION…]
# Environment: LOCKSTEP_COMMIT names the commit where the checkout has no git history.
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
status=0
# More at once only wait for each other.
TEST_JOBS=$((4 * $(smi name | wc -l))) TEST_RECORD=$counts "$here/test.sh" "$folder" -L 'gpu|python' "$@" || status=$?

commit=$(measured_commit "$checkout")
record=$checkout/bench/results/gpu-tests.toml
mkdir -p "$(dirname "$record")"
{
  echo "# The last run of \`make gpu-test\` on a machine with GPUs; written by scripts/gpu-test.sh."
  echo "command = \"make gpu-test\""
  echo "date = $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "commit = \"$commit\""
  echo "gpus = $(smi name | wc -l)"
  echo "devices = [$(smi name | sed 's/.*/"&"/' | paste -sd, | sed 's/,/, /g')]"
  echo "driver = \"$(smi driver_version | sed -n 1p)\""
  echo "torch = \"$(torch_version "$(cat "$checkout/.lockstep/torch")")\""
  cat "$counts"
} >"$record"
say "recorded in bench/results/gpu-tests.toml"
exit "$status"
