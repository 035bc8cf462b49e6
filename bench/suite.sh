#!/usr/bin/env bash
# How long a newcomer and CI wait: a clean clone of HEAD, without a compiler's cache. Parts: `make run` to its first step
# and to its end, `make test` after it, and .ci/run in a clone of its own. One [[run]] per call is added to
# bench/results/suite.toml; nothing else may run on the machine.
#   bench/suite.sh [run] [ci]      without words both; run: `make run` and `make test`
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
# shellcheck source=scripts/lib/speed.sh
. "$checkout/scripts/lib/speed.sh"
record=$checkout/bench/results/suite.toml
commit=$(measured_commit "$checkout")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export CCACHE_DISABLE=1

# measured NAME COMMAND…: its seconds by the clock and of processors, and the most memory that one process took, as TOML.
measured() {
  local name=$1 begin=$EPOCHREALTIME
  shift
  /usr/bin/time -o "$top/time" -f '%U %S %M' "$@" >"$top/$name.log" 2>&1 </dev/null ||
    { tail -n 60 "$top/$name.log" >&2 && die "$name failed"; }
  awk -v name="$name" -v begin="$begin" -v end="$EPOCHREALTIME" \
    '{printf "%s_s = %.0f\n%s_processor_s = %.0f\n%s_largest_process_mb = %.0f\n", name, end - begin, name, $1 + $2, name, $3 / 1000}' \
    <(tail -n 1 "$top/time")
}
# How fast the machine is: seconds of a processor for each of the sources, compiled on all cores at once.
source_s() {
  export -f compile_on_all_cores
  (cd "$checkout" && /usr/bin/time -f %U -o "$top/source" bash -c 'compile_on_all_cores "$@"' bash "$top" "$1")
  awk -v cores="$1" '{printf "source_s = %.1f\n", $1 / cores}' "$top/source"
}
cores=$(usable_cores)
words=" ${*:-run ci} "
lines=$top/lines
{
  printf '\n[[run]]\ncommit = "%s"\ndate = %s\ncores = %s\n' "$commit" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$cores"
  source_s "$cores"
  if [[ $words == *" run "* ]]; then
    git clone -q "$checkout" "$top/clone"
    begin=$(date +%s)
    measured make_run make -C "$top/clone" run
    # The run's first event that is a step, by the clock of its worker.
    python3 - "$top/clone/runs" "$begin" <<'PYTHON'
import json, pathlib, sys
events = [json.loads(line) for path in pathlib.Path(sys.argv[1]).glob("*/events.jsonl") for line in path.open()]
print(f"first_step_s = {min(e['time'] for e in events if e.get('kind') == 'step') - float(sys.argv[2]):.0f}")
PYTHON
    measured make_test make -C "$top/clone" test
    sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped.*/passed = \1\nfailed = \2\nskipped = \3/p' "$top/make_test.log"
  fi
  if [[ $words == *" ci "* ]]; then
    git clone -q "$checkout" "$top/ci"
    measured ci bash "$top/ci/.ci/run"
    sed -nE 's/^ci: ([a-z-]+) took ([0-9]+) s, ([0-9.]+) s of processors$/ci_\1_s = \2\nci_\1_processor_s = \3/p' "$top/ci.log" | tr - _
  fi
} >"$lines"
if [ ! -e "$record" ]; then
  printf '# What a newcomer and CI wait for, on a clean clone without a compiler'"'"'s cache; packages and LibTorch were there.\n# source_s: how fast the machine is, seconds of a processor for one source with LibTorch'"'"'s headers, on all cores at once. Written by bench/suite.sh.\n' >"$record"
fi
cat "$lines" >>"$record"
cat "$lines"
