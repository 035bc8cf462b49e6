#!/usr/bin/env bash
# Kills a random rank at a random moment, again and again (tests/process/failures/chaos_test.cpp), then at
# points of a save (tests/process/attack/kill_points_test.cpp), and records how that ended.
#   chaos.sh BUILD [KILLS] [SEED] [POINTS]      KILLS is 1000, SEED 1, POINTS 200; a part of 0 is left out
# The kills are shared out among as many runs at once as the cores bear, each with a seed of its own.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
build=$(cd "$1" && pwd) kills=${2:-1000} seed=${3:-1} points=${4:-200}
records=$(dirname "$here")/bench/results
[ -x "$build/tests/process-attack" ] || die "the tests are not built" "make build"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
commit=$(measured_commit "$(dirname "$here")")
runs=$((($(usable_cores) + 3) / 4))

# at_once NAME FILTER: a test program as often as the cores bear, each with the variables of its number.
at_once() {
  local run failed=0
  for ((run = 0; run < runs; run++)); do
    variables "$run" "$build/tests/process-$1" --gtest_filter="$2" >"$logs/$1-$run" 2>&1 &
  done
  for ((run = 0; run < runs; run++)); do wait -n || failed=1; done
  if ((failed)); then
    tail -n 40 "$logs/$1"-* >&2
    die "a kill was not survived (seeds $seed to $((seed + runs - 1)))"
  fi
  cat "$logs/$1"-* | grep -E '^(chaos|attack): '
}
variables() {
  local run=$1 share=$(((points + runs - 1) / runs))
  shift
  LOCKSTEP_CHAOS_KILLS=$(((kills + runs - 1) / runs)) LOCKSTEP_CHAOS_SEED=$((seed + run)) \
    LOCKSTEP_ATTACK_KILLS=$share LOCKSTEP_ATTACK_FIRST=$((40 + run * share)) "$@"
}
# measured SECONDS: what a record says of the machine and the time.
measured() {
  printf 'command = "scripts/chaos.sh BUILD %s %s %s"\ncommit = "%s"\ndate = %s\ncores = %s\nseconds = %s\n' \
    "$kills" "$seed" "$points" "$commit" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(nproc)" "$1"
}
# The N-th number of the chaos lines, as a TOML array.
numbers() {
  cat "$logs"/failures-* | sed -nE 's/^chaos: seed ([0-9]+), ([0-9]+) kills, median ([0-9.]+) s, worst ([0-9.]+) s.*/\'"$1"'/p' |
    paste -sd, | sed 's/.*/[&]/'
}

if ((kills > 0)); then
  begin=$(date +%s)
  at_once failures 'Chaos.*'
  {
    echo "# Random kills of a rank on 2 to 4 CPU ranks: how long until the tool and all ranks had ended. No sample"
    echo "# was lost or repeated, and no process survived: else there would be no record. Written by scripts/chaos.sh."
    measured $(($(date +%s) - begin))
    printf 'seed = %s\nkills = %s\nmedian_s = %s\nworst_s = %s\n' "$(numbers 1)" "$(numbers 2)" "$(numbers 3)" "$(numbers 4)"
  } >"$records/chaos.toml"
fi
if ((points > 0)); then
  begin=$(date +%s)
  at_once attack 'KillPoints.*'
  {
    echo "# Runs killed at points of a save: each went on from the newest checkpoint that it had reported, to the same"
    echo "# weights; else there would be no record. Written by scripts/chaos.sh."
    measured $(($(date +%s) - begin))
    echo "points_of_a_save = $points"
  } >"$records/save-points.toml"
fi
