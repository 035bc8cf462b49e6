#!/usr/bin/env bash
# Kills a random rank at a random moment, again and again (tests/process/failures/chaos_test.cpp), then at
# points of a save (tests/process/attack/kill_points_test.cpp), and records how that ended.
#   chaos.sh BUILD [KILLS] [SEED] [POINTS]      KILLS is 1000, SEED 1, POINTS 200
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
build=$(cd "$1" && pwd) kills=${2:-1000} seed=${3:-1} points=${4:-200}
record=$(dirname "$here")/bench/results/chaos.toml
[ -x "$build/tests/process-attack" ] || die "the tests are not built" "make build"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
commit=$(git -C "$here" rev-parse HEAD 2>/dev/null || echo unknown)
begin=$(date +%s)
LOCKSTEP_CHAOS_KILLS=$kills LOCKSTEP_CHAOS_SEED=$seed "$build/tests/process-failures" --gtest_filter='Chaos.*' \
  >"$log" 2>&1 || { tail -n 40 "$log" >&2; die "a kill was not survived (seed $seed)"; }
line=$(grep '^chaos: ' "$log")
echo "$line"
LOCKSTEP_ATTACK_KILLS=$points "$build/tests/process-attack" --gtest_filter='KillPoints.*' >"$log" 2>&1 ||
  { tail -n 40 "$log" >&2; die "a kill at a point of a save was not survived"; }
grep '^attack: ' "$log"
{
  echo "# Random kills of a rank on 2 to 4 CPU ranks: how long until the tool and all ranks had ended. No sample"
  echo "# was lost or repeated, and no process survived: else there would be no record. points_of_a_save: each killed"
  echo "# run went on from the newest checkpoint that it had reported, to the same weights. Written by scripts/chaos.sh."
  printf 'command = "scripts/chaos.sh BUILD %s %s %s"\n' "$kills" "$seed" "$points"
  printf 'commit = "%s"\ndate = %s\ncores = %s\nseconds = %s\n' \
    "$commit" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(nproc)" "$(($(date +%s) - begin))"
  sed -E 's/^chaos: seed ([0-9]+), ([0-9]+) kills, median ([0-9.]+) s, worst ([0-9.]+) s.*/seed = \1\nkills = \2\nmedian_s = \3\nworst_s = \4/' <<<"$line"
  echo "points_of_a_save = $points"
} >"$record"
