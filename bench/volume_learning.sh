#!/usr/bin/env bash
# What the volume recipe learns on real volumes: Dice of what was held back, over seeds, numbers of GPUs, precisions and
# schedules. Writes a record of every run. With two GPUs runs of one GPU go in pairs; with one, one after the other, and
# what needs two is left out.
#   bench/volume_learning.sh OUT_FILE HALVES MNI
# HALVES: nuclei volumes that bench/cut_volumes.py cut. MNI: chunks of the atlas, mni_yY_zZ.
# Environment: LOCKSTEP names the tool (build/lockstep); GROUPS_ASKED some of "nuclei schedules mni precision";
# ATLAS_STEPS (150); LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 3 ] || die "volume_learning.sh takes three arguments" "bench/volume_learning.sh OUT_FILE HALVES MNI"
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
halves=$(cd "$2" && pwd) mni=$(cd "$3" && pwd)
tool=${LOCKSTEP:-$checkout/build/lockstep}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# train GROUP NAME DEVICES WORDS…: leaves NAME.json
train() {
  local group=$1 name=$2 devices=$3
  shift 3
  if ! "$tool" train volume preset=full batch.global=16 data.patches=64 stop.epochs=0 log.every_steps=10 --name "$name" \
    --devices "$devices" "$@" >"$name.log" 2>&1; then
    tail -n 5 "$name.log" >&2
    return 0
  fi
  local words=${*//$halves/HALVES}
  words=${words//$mni/MNI}
  python3 - "$group" "$name" "$devices" "$words" "$(python3 "$checkout/bench/read_run.py" "runs/$name" --after 30)" >"$name.json" <<'PYTHON'
import json, sys

group, name, devices, words, run = sys.argv[1:]
events = [json.loads(line) for line in open(f"runs/{name}/events.jsonl")]
metrics = [event for event in events if event["kind"] == "eval"][-1]["metrics"]
run = json.loads(run)
print(json.dumps({"group": group, "devices": devices, "words": words, "dice": round(metrics["dice"], 4),
                  "surface_dice": round(metrics["surface_dice"], 4), "step_ms": run["step_ms"], "peak_gb": run["peak_gb"]}))
PYTHON
  cat "$name.json" >&2
  rm -rf "runs/$name"
}

gpus=$(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l)
second=$((gpus > 1))
# What was started in the background with one GPU would wait for its device.
beside() { if ((gpus > 1)); then "$@" & else "$@"; fi; }

nuclei=("data.path=$halves" data.patch=64,48,64 data.valid=1135b precision=fp16 optimizer.lr=1e-3 augment.gamma=0.3
  augment.contrast=0.5 stop.steps=500 eval.every_epochs=0 predict.flips=true)
atlas=("data.path=$mni" "data.valid=mni_y146_z000,mni_y146_z077" "stop.steps=${ATLAS_STEPS:-150}" eval.every_epochs=0)
restarts=(schedule.kind=cosine_restarts schedule.unit=steps schedule.warmup=0 schedule.period=71 schedule.period_mult=2)
polynomial=(schedule.kind=polynomial schedule.power=0.9)

asked=" ${GROUPS_ASKED:-nuclei schedules mni precision} "
date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
if [[ $asked = *" nuclei "* ]]; then
  for seed in 1 2 3; do
    beside train nuclei_1_gpu "n1-$seed" $((seed % gpus % 2)) "${nuclei[@]}" "${polynomial[@]}" "seed=$seed"
    if [ "$seed" = 2 ]; then wait; fi
  done
  wait
  if ((gpus > 1)); then
    for seed in 1 2 3; do train nuclei_2_gpus "n2-$seed" 0,1 "${nuclei[@]}" "${polynomial[@]}" "seed=$seed"; done
  fi
fi
if [[ $asked = *" schedules "* ]]; then
  for seed in 1 2 3; do
    beside train polynomial "p-$seed" 0 "${nuclei[@]}" "${polynomial[@]}" "seed=$seed"
    train cosine_restarts "r-$seed" "$second" "${nuclei[@]}" "${restarts[@]}" "seed=$seed"
    wait
  done
fi
if [[ $asked = *" mni "* ]] && ((gpus > 1)); then
  for seed in 1 2 3; do train mni_2_gpus "m2-$seed" 0,1 "${atlas[@]}" precision=fp16 "seed=$seed"; done
fi
if [[ $asked = *" precision "* ]]; then
  for seed in 1 2 3; do
    beside train mni_fp32 "m32-$seed" 0 "${atlas[@]}" precision=fp32 "seed=$seed"
    train mni_fp16 "m16-$seed" "$second" "${atlas[@]}" precision=fp16 "seed=$seed"
    wait
  done
fi

commit=$(measured_commit "$checkout")
cat ./*.json >all
python3 - "$commit" "$date" >record <<'PYTHON'
import json, statistics, subprocess, sys

runs = [json.loads(line) for line in open("all")]
gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout
print(f'command = "bench/volume_learning.sh OUT_FILE HALVES MNI"\ncommit = "{sys.argv[1]}"\ndate = "{sys.argv[2]}"')
print(f'machine = "{"; ".join(line for line in gpu.splitlines() if line)}"')
for group in sorted({run["group"] for run in runs}):
    some = [run for run in runs if run["group"] == group]
    print(f"\n[{group}]\nmean_dice = {statistics.mean(run['dice'] for run in some):.4f}")
    print(f"step_ms = {statistics.median(run['step_ms'] for run in some)}\npeak_gb = {statistics.median(run['peak_gb'] for run in some)}")
    for run in some:
        print(f"[[{group}.run]]")
        for key, value in run.items():
            if key != "group":
                print(f"{key} = {json.dumps(value)}")
PYTHON
mv record "$out"
cat "$out"
