#!/usr/bin/env bash
# Measures a training step of the fewshot recipe beside PyTorch's on the GPUs of this machine, in turn, and writes a record of
# every run: ResNet-50, episodes of 15 examples and 5 or 10 queries of 320^2, bf16.
#   bench/fewshot.sh OUT_FILE [GPUS]      GPUS is 1; needs a python3 with torch, and Pillow or torchvision
# One GPU: PyTorch eager, compiled, with CUDA graphs of what compiles, and as one graph captured by hand, and ours; in fp16; with
# frozen batch norm; ours with every picture decoded anew; and PyTorch's trunk alone. Two GPUs: PyTorch by DDP, and ours
# with gradients added up in fp32 and in bf16, one episode per GPU, beside one GPU alone.
# Environment: BUILD is the folder of programs (build); REPEATS (2), STEPS (300) and WARM_UP (100) of ours; PEER_MODES; ONLY, an
# expression that the names of the programs to run match; LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || [ $# = 2 ] || die "fewshot.sh takes a file and a number of GPUs" "bench/fewshot.sh OUT_FILE [GPUS]"
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
gpus=${2:-1}
tool=${BUILD:-$checkout/build}/lockstep
python3 -c 'import torch' 2>/dev/null || die "python3 has no torch" "put one that has first on PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 "$checkout/bench/fewshot_set.py" set

# keep PROGRAM REPEAT COMMAND…, which prints one JSON object
keep() {
  local json
  [[ $1 =~ ${ONLY:-.} ]] || return 0
  json=$("${@:3}") || exit 2
  printf '{"program": "%s", "repeat": %s, "result": %s}\n' "$1" "$2" "$json" >>results
  printf '%s %s: %s\n' "$1" "$2" "$json" >&2
}
# peer MODE WORDS…
peer() {
  if ! python3 "$checkout/bench/peers/fewshot.py" "$@" >peer.out 2>peer.log; then
    tail -n 20 peer.log >&2
    die "the peer failed: $*"
  fi
  grep '^{' peer.out | tail -n 1
}
# ours QUERIES WORDS…
ours() {
  local queries=$1 devices gpus=${ON_GPUS:-$gpus}
  shift
  devices=$(seq -s, 0 $((gpus - 1)))
  if ! "$tool" train fewshot preset=resnet50 data.path=set data.novel_share=0 episode.n_way=5 episode.k_shot=3 \
    "episode.queries=$queries" "batch.global=$gpus" "stop.episodes=$((${STEPS:-300} * gpus))" eval.every_epochs=0 \
    checkpoint.every_epochs=0 log.every_steps=10 precision=bf16 --name run --devices "$devices" "$@" >ours.log 2>&1; then
    tail -n 20 ours.log >&2
    die "lockstep failed: $*"
  fi
  python3 "$checkout/bench/read_run.py" runs/run --after "${WARM_UP:-100}" || die "the run has no speed: $*"
  rm -rf runs/run
}

one_gpu() {
  local mode
  for queries in 5 10; do
    for mode in ${PEER_MODES:-eager compile ro graph compile_graph}; do
      keep "torch_${mode}_$queries" "$1" peer "$mode" --queries $queries
    done
    keep "ours_$queries" "$1" ours $queries
    keep "ours_${queries}_decoding" "$1" ours $queries data.cache_gb=0
  done
  keep ours_5_fp16 "$1" ours 5 precision=fp16
  keep torch_graph_5_fp16 "$1" peer graph --amp fp16
  keep ours_5_frozen "$1" ours 5 norm.statistics=frozen
  keep torch_graph_5_frozen "$1" peer graph --frozen
  for mode in eager ro; do keep "trunk_$mode" "$1" peer "$mode" --model trunk; done
}
alone() { ON_GPUS=1 ours "$@"; }
several_gpus() {
  local mode
  for queries in 5 10; do keep "ours_alone_$queries" "$1" alone $queries; done
  for queries in 5 10; do
    for mode in ${PEER_MODES:-ddp ddp_compile ddp_ro ddp_graph}; do
      keep "torch_${mode}_$queries" "$1" peer "$mode" --queries $queries --gpus "$gpus"
    done
    keep "ours_$queries" "$1" ours $queries
    keep "ours_bf16_$queries" "$1" ours $queries reduce_precision=bf16
  done
  for mode in ddp ddp_ro; do keep "trunk_$mode" "$1" peer "$mode" --model trunk --gpus "$gpus"; done
}

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for repeat in $(seq "${REPEATS:-2}"); do
  if [ "$gpus" = 1 ]; then one_gpu "$repeat"; else several_gpus "$repeat"; fi
done
commit=$(measured_commit "$checkout")
python3 "$checkout/bench/runs_record.py" results --command "bench/fewshot.sh $(basename "$out") $gpus" --commit "$commit" --date "$date" --gpus "$gpus" >record
mv record "$out"
cat "$out"
