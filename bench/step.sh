#!/usr/bin/env bash
# Measures a training step of ours and of PyTorch's (one GPU, or DDP on several) in turn on this
# machine, and writes a record of every run.
#   bench/step.sh OUT_FILE [GPUS]     GPUS is 1; needs a python3 with torch
# Environment: PEER is eager (default) or compile; LOCKSTEP names the tool (build/lockstep); REPEATS (3),
# STEPS (200) and WARM_UP (60) of ours; WORKLOADS ("textgen gpt124m"; volume too); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"

[ $# = 1 ] || [ $# = 2 ] || die "step.sh takes a file and a number of GPUs" "bench/step.sh OUT_FILE [GPUS]"
out=$1 gpus=${2:-1}
command="bench/step.sh $(basename "$out") $gpus"
tool=${LOCKSTEP:-$checkout/build/lockstep}
python3 -c 'import torch' 2>/dev/null || die "python3 has no torch" "put one that has first on PATH"
[ -x "$tool" ] || die "$tool is not there" "build it with bench/gpu_build.sh, or name it with LOCKSTEP"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mode=single
if [ "$gpus" -gt 1 ]; then mode=ddp; fi
if [ "${PEER:-eager}" = compile ]; then mode=${mode}_compile; fi
devices=$(seq -s, 0 $((gpus - 1)))

# One JSON line on the standard output: what the peer prints.
run_peer() {
  local amp=bf16
  if [ "$1" = volume ]; then amp=fp16; fi
  if ! python3 "$checkout/bench/peers/step.py" "$1" "$mode" --gpus "$gpus" --amp "$amp" 2>"$work/peer.log" >"$work/peer.out"; then
    tail -n 20 "$work/peer.log" >&2
    die "the peer failed on $1"
  fi
  grep '^{' "$work/peer.out" | tail -n 1
}

# The same for ours. Logged in windows, so that reading the loss does not stop every step.
run_ours() {
  local root=$work/$1-$2 recipe=textgen more=()
  # The eight volumes that are made give as many patches as the step of many GPUs takes.
  if [ "$1" = volume ]; then recipe=volume more=(data.patches=512); fi
  if ! "$tool" train "$recipe" "preset=bench-$1" "${more[@]}" "stop.steps=${STEPS:-200}" log.every_steps=10 \
    "run.root=$root" --name step --devices "$devices" >"$work/ours.log" 2>&1; then
    tail -n 20 "$work/ours.log" >&2
    die "lockstep failed on $1"
  fi
  python3 "$checkout/bench/read_run.py" "$root/step" --after "${WARM_UP:-60}"
  rm -rf "$root"
}

# keep PROGRAM WORKLOAD REPEAT JSON
keep() {
  printf '{"program": "%s", "workload": "%s", "repeat": %s, "result": %s}\n' "$1" "$2" "$3" "$4" >>"$work/runs"
  printf '%-8s %-8s run %s: %s\n' "$2" "$1" "$3" "$4" >&2
}

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for workload in ${WORKLOADS:-textgen gpt124m}; do
  for repeat in $(seq "${REPEATS:-3}"); do
    result=$(run_peer "$workload")
    keep peer "$workload" "$repeat" "$result"
    result=$(run_ours "$workload" "$repeat")
    keep ours "$workload" "$repeat" "$result"
  done
done

commit=$(measured_commit "$checkout")
mkdir -p "$(dirname "$out")"
python3 "$checkout/bench/step_record.py" "$work/runs" --command "$command" --commit "$commit" \
  --date "$date" --gpus "$gpus" --mode "$mode" >"$work/record"
mv "$work/record" "$out"
cat "$out"
