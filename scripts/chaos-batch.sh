#!/usr/bin/env bash
# Kills scheduler, supervisor, a job or all of them of a batch at random moments (tests/process/batch/chaos_test.cpp),
# then each of them at every call by which it changes a file, sends a message or forks (kill_points_test.cpp), and
# records how that ended.
#   chaos-batch.sh BUILD [KILLS] [SEED]      KILLS is 2000, SEED 1
# Each program has processes of its own (unshare), where this user may: then nothing else can be hit.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
build=$(cd "$1" && pwd) kills=${2:-2000} seed=${3:-1}
record=$(dirname "$here")/bench/results/chaos-batch.toml
[ -x "$build/tests/process-batch" ] || die "the tests are not built" "make build"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
commit=$(measured_commit "$(dirname "$here")")
alone=()
if unshare -pf --mount-proc true 2>/dev/null; then alone=(unshare -pf --mount-proc); fi

# tried NAME FILTER: its lines, or an end.
tried() {
  "${alone[@]}" "$build/tests/process-batch" --gtest_filter="$2" >"$logs/$1" 2>&1 || {
    tail -n 60 "$logs/$1" >&2
    die "a kill was not survived (seed $seed)"
  }
}
begin=$(date +%s)
LOCKSTEP_BATCH_KILLS=$kills LOCKSTEP_CHAOS_SEED=$seed tried random 'BatchChaos.*'
LOCKSTEP_BATCH_POINTS=0 tried points 'BatchPoints.*'
tried power 'BatchPowerLoss.*'
{
  echo "# Kills of lockstep batch at random moments, at each call by which it changes a file, sends a message or forks, and"
  echo "# power losses after each change of a file. No job was lost, none ran twice at once, no process survived: else"
  echo "# there would be no record. Written by scripts/chaos-batch.sh."
  printf 'command = "scripts/chaos-batch.sh BUILD %s %s"\ncommit = "%s"\ndate = %s\ncores = %s\nseed = %s\nseconds = %s\n' \
    "$kills" "$seed" "$commit" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(nproc)" "$seed" $(($(date +%s) - begin))
  sed -nE 's/^chaos-batch: ([0-9]+) kills in ([0-9]+) batches of ([0-9]+) jobs.*/\n[random]\nkills = \1\nbatches = \2\njobs_each = \3/p' "$logs/random"
  sed -nE 's/^chaos-batch: .* jobs: (.*); 0 lost.*/\1/p' "$logs/random" | xargs -n 2 printf 'of_%s = %s\n'
  sed -nE 's/^chaos-kept: ([0-9]+) kills in ([0-9]+) batches of .*/kills_with_kept_workers = \1/p' "$logs/random"
  sed -nE 's/^chaos-staying: ([0-9]+) kills in ([0-9]+) batches of .*/kills_with_staying_workers = \1/p' "$logs/random"
  printf 'lost = 0\ntwice_at_once = 0\nsurvivors = 0\n'
  sed -nE 's/^batch-points: ([a-z-]+), ([0-9]+) kills at its ([0-9]+) calls.*/\n[[points]]\nof = "\1"\nkills = \2\ncalls = \3/p' "$logs/points"
  sed -nE 's/^batch-power: ([0-9]+) losses after ([0-9]+) changes, ([0-9]+) resumed.*/\n[power_loss]\nchanges = \2\nlosses = \1\nresumed = \3/p' "$logs/power"
} >"$record"
cat "$record"
