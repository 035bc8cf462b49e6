#!/usr/bin/env bash
# Compares what the plan says a rank of the text recipe needs with the memory that it used: a few
# steps of each case on one GPU, and a record of all of them. Takes about three minutes.
#   bench/memory.sh OUT_FILE
# Environment: LOCKSTEP names the tool (build/lockstep); DEVICE the GPU (0); CASES replaces the list
# below, a line each; LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"

[ $# = 1 ] || die "memory.sh takes a file" "bench/memory.sh OUT_FILE"
out=$1
command="bench/memory.sh $(basename "$out")"
tool=${LOCKSTEP:-$checkout/build/lockstep}
[ -x "$tool" ] || die "$tool is not there" "build it with bench/gpu_build.sh, or name it with LOCKSTEP"

# PRESET VOCABULARY MICRO-BATCH PRECISION RECOMPUTE. The tokens are random: memory depends on how
# many a vocabulary has, not on what they mean.
cases=${CASES:-"
small         256    32 bf16 off
medium        256    64 bf16 off
medium        256    64 fp16 off
medium        256    64 fp32 off
medium        256    64 bf16 blocks
medium        256   512 bf16 off
shakespeare   256    64 bf16 off
shakespeare   256    64 fp32 off
kaggle-10m    14336  16 fp16 off
kaggle-10m    14336  64 bf16 off
kaggle-10m    14336  64 fp32 off
kaggle-10m    14336  64 bf16 blocks
kaggle        50304  64 bf16 off
gpt2          50304   8 bf16 off
gpt2          50304  60 bf16 off
gpt2          50304 160 bf16 off
gpt2          50304  60 bf16 blocks
gpt2          50304  16 fp32 off
gpt2          50304  32 fp32 blocks
bench-gpt124m 50304  32 bf16 off
bench-gpt124m 50304  64 bf16 off
bench-textgen 256    16 bf16 off
"}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run PRESET VOCABULARY MICRO PRECISION RECOMPUTE: one JSON line. A step becomes a graph after three;
# nothing is evaluated or saved. Each has a folder of its own, so that no run knows another's peak.
run() {
  local root=$work/run
  rm -rf "$root"
  if ! CUDA_VISIBLE_DEVICES=${DEVICE:-0} "$tool" bench textgen "preset=$1" tokenizer.kind=bytes \
    data.path=synthetic "model.vocab=$2" "batch.micro=$3" batch.accumulation=1 batch.global=0 \
    "precision=$4" "memory.recompute=$5" "run.root=$root" --devices 1 --warm-up 3 --steps 3 \
    --repeats 1 --keep </dev/null >"$work/log" 2>&1; then
    tail -n 5 "$work/log" >&2
    return 1
  fi
  python3 "$checkout/bench/memory_record.py" --read "$root"
}

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
while read -r preset vocab micro precision recompute; do
  [ -n "$preset" ] || continue
  result=$(run "$preset" "$vocab" "$micro" "$precision" "$recompute") || result='{"failed": true}'
  printf '{"preset": "%s", "vocab": %s, "micro": %s, "precision": "%s", "recompute": "%s", "result": %s}\n' \
    "$preset" "$vocab" "$micro" "$precision" "$recompute" "$result" >>"$work/runs"
  printf '%-14s micro %-4s %s recompute %-7s %s\n' "$preset" "$micro" "$precision" "$recompute" "$result" >&2
done <<<"$cases"

commit=$(measured_commit "$checkout")
mkdir -p "$(dirname "$out")"
python3 "$checkout/bench/memory_record.py" "$work/runs" --command "$command" --commit "$commit" \
  --date "$date" --gpus 1 >"$out"
cat "$out"
