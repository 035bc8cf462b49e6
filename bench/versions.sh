#!/usr/bin/env bash
# Compares a training step of two builds of Lockstep, in turn on this machine, and writes a record of every run.
#   bench/versions.sh OUT_FILE OLD_TOOL OLD_COMMIT [GPUS]     GPUS is 1
# Environment: LOCKSTEP names the tool of the new build (build/lockstep); REPEATS (3), STEPS (200) and WARM_UP (60);
# WORKLOADS ("textgen gpt124m volume fewshot dimabsa"); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
# shellcheck source=bench/lib/run_step.sh
. "$checkout/bench/lib/run_step.sh"

[ $# = 3 ] || [ $# = 4 ] ||
  die "versions.sh takes a file, the other build's tool and its commit, and a number of GPUs" \
    "bench/versions.sh OUT_FILE OLD_TOOL OLD_COMMIT [GPUS]"
out=$1 old=$2 old_commit=$3 gpus=${4:-1}
new=${LOCKSTEP:-$checkout/build/lockstep}
for tool in "$old" "$new"; do
  [ -x "$tool" ] || die "$tool is not there" "build it with bench/gpu_build.sh"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for workload in ${WORKLOADS:-textgen gpt124m volume fewshot dimabsa}; do
  for repeat in $(seq "${REPEATS:-3}"); do
    for variant in plain new; do # "plain" is what the others are compared with
      tool=$old
      if [ "$variant" = new ]; then tool=$new; fi
      result=$(run_step "$tool" "$workload" "$gpus")
      printf '{"workload": "%s", "variant": "%s", "options": "%s", "repeat": %s, "result": %s}\n' \
        "$workload" "$variant" "$([ "$variant" = new ] || echo "commit $old_commit")" "$repeat" "$result" >>"$work/runs"
      printf '%-8s %-6s run %s: %s\n' "$workload" "$variant" "$repeat" "$result" >&2
    done
  done
done

mkdir -p "$(dirname "$out")"
python3 "$checkout/bench/option_record.py" "$work/runs" --command "bench/versions.sh $(basename "$out") … $old_commit $gpus" \
  --commit "$(measured_commit "$checkout")" --date "$date" --gpus "$gpus" |
  sed -e 's|^# A training step with options off and on.*|# A training step of two builds, plain and new, measured in turn.|' \
    -e 's|option_cost.sh|versions.sh|' >"$work/record"
mv "$work/record" "$out"
cat "$out"
