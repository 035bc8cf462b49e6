#!/usr/bin/env bash
# Measures what options cost: the time of a step and the peak of allocated GPU memory with each of
# them off and on, in turn on this machine, and writes a record of every run.
#   bench/option_cost.sh OUT_FILE [GPUS]     GPUS is 1; shard needs 2 or more
# Environment: VARIANTS of "ema recompute shard all deterministic exact muon" (those that trade memory);
# LOCKSTEP names the tool (build/lockstep); REPEATS (3), STEPS (200) and WARM_UP (60); WORKLOADS
# ("textgen gpt124m"); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
# shellcheck source=bench/lib/run_step.sh
. "$checkout/bench/lib/run_step.sh"

[ $# = 1 ] || [ $# = 2 ] || die "option_cost.sh takes a file and a number of GPUs" "bench/option_cost.sh OUT_FILE [GPUS]"
out=$1 gpus=${2:-1}
command="bench/option_cost.sh $(basename "$out") $gpus"
tool=${LOCKSTEP:-$checkout/build/lockstep}
[ -x "$tool" ] || die "$tool is not there" "build it with bench/gpu_build.sh, or name it with LOCKSTEP"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The options of a variant, a word each.
options_of() {
  case $1 in
    plain) ;;
    ema) echo ema.decay=0.999 ;;
    recompute) echo memory.recompute=blocks ;;
    shard) echo shard_optimizer=true ;;
    all) echo ema.decay=0.999 memory.recompute=blocks shard_optimizer=true ;;
    deterministic) echo deterministic=true ;;
    exact) echo exact=true ;;
    muon) echo optimizer.kind=muon ;;
    *) die "unknown variant $1" ;;
  esac
}
variants="ema recompute"
if [ "$gpus" -gt 1 ]; then variants="$variants shard all"; fi
variants="plain ${VARIANTS:-$variants}"
for variant in $variants; do options_of "$variant" >/dev/null; done

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for workload in ${WORKLOADS:-textgen gpt124m}; do
  for repeat in $(seq "${REPEATS:-3}"); do
    for variant in $variants; do
      # shellcheck disable=SC2046
      result=$(run_step "$tool" "$workload" "$gpus" $(options_of "$variant"))
      printf '{"workload": "%s", "variant": "%s", "options": "%s", "repeat": %s, "result": %s}\n' \
        "$workload" "$variant" "$(options_of "$variant")" "$repeat" "$result" >>"$work/runs"
      printf '%-8s %-10s run %s: %s\n' "$workload" "$variant" "$repeat" "$result" >&2
    done
  done
done

commit=$(measured_commit "$checkout")
mkdir -p "$(dirname "$out")"
python3 "$checkout/bench/option_record.py" "$work/runs" --command "$command" --commit "$commit" \
  --date "$date" --gpus "$gpus" >"$work/record"
mv "$work/record" "$out"
cat "$out"
