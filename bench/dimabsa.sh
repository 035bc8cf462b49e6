#!/usr/bin/env bash
# Measures a training step of the dimabsa recipe beside PyTorch's on the GPUs of this machine, in turn, and writes a record of
# every run: BERT-base in bf16, six queries of 128 tokens per sentence.
#   bench/dimabsa.sh OUT_FILE [GPUS]      GPUS is 1; needs a python3 with torch
# One GPU: PyTorch with the queries in turn (eager) and as rows of a batch (eager, compiled, with CUDA graphs), and ours, with 1, 2
# and 8 sentences per step; in fp16; and a batch with a sentence of 26 tuples, beside the original's padding. Two GPUs:
# PyTorch by DDP, and ours with gradients added up in fp32, in bf16, and with the update shared out, with 1 and 8 sentences per GPU, beside
# one GPU alone.
# Environment: BUILD is the folder of programs (build); REPEATS (2), STEPS (200) and WARM_UP (60) of ours; ONLY, an expression
# that the names of the programs to run match; LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || [ $# = 2 ] || die "dimabsa.sh takes a file and a number of GPUs" "bench/dimabsa.sh OUT_FILE [GPUS]"
case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
gpus=${2:-1}
tool=${BUILD:-$checkout/build}/lockstep
python3 -c 'import torch' 2>/dev/null || die "python3 has no torch" "put one that has first on PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
many=(26 1 2 1 3 1 1 2)  # tuples of the sentences of a batch
python3 "$checkout/bench/dimabsa_set.py" even
python3 "$checkout/bench/dimabsa_set.py" uneven --tuples "${many[@]}"

# keep PROGRAM REPEAT COMMAND…, which prints one JSON object
keep() {
  local json
  [[ $1 =~ ${ONLY:-.} ]] || return 0
  json=$("${@:3}") || exit 2
  printf '{"program": "%s", "repeat": %s, "result": %s}\n' "$1" "$2" "$json" >>results
  printf '%s %s: %s\n' "$1" "$2" "$json" >&2
}
# peer PROGRAM WORDS…
peer() {
  if ! python3 "$checkout/bench/peers/$1" "${@:2}" >peer.out 2>peer.log; then
    tail -n 20 peer.log >&2
    die "the peer failed: $*"
  fi
  grep '^{' peer.out | tail -n 1
}
# ours SET WORDS…, on all GPUs or those that ON_GPUS counts
ours() {
  local set=$1 gpus=${ON_GPUS:-$gpus}
  shift
  if ! "$tool" train dimabsa task=2 model.path="$set/bert" data.path="$set/eng_made_train_task2.jsonl" data.valid_share=0 \
    eval.every_epochs=0 checkpoint.every_epochs=0 stop.epochs=0 data.shuffle=false "stop.steps=${STEPS:-200}" log.every_steps=10 precision=bf16 --name run \
    --devices "$(seq -s, 0 $((gpus - 1)))" "$@" >ours.log 2>&1; then
    tail -n 20 ours.log >&2
    die "lockstep failed: $*"
  fi
  python3 "$checkout/bench/read_run.py" runs/run --after "${WARM_UP:-60}" || die "the run has no speed: $*"
  rm -rf runs/run
}

one_gpu() {
  keep torch_in_turn "$1" peer step.py dimabsa single
  for mode in single single_compile single_graphs; do
    keep "torch_rows_$mode" "$1" peer step.py dimabsa_rows $mode
  done
  for sentences in 1 2 8; do
    keep "ours_$sentences" "$1" ours even batch.global=$sentences
    keep "torch_graphs_$sentences" "$1" peer step.py dimabsa_rows single_graphs --sentences $sentences
  done
  keep ours_fp16 "$1" ours even batch.global=1 precision=fp16
  keep torch_graphs_fp16 "$1" peer step.py dimabsa_rows single_graphs --amp fp16
  keep padded "$1" peer dimabsa_padded.py "${many[@]}"
  keep ours_uneven "$1" ours uneven batch.global=8 batch.micro=48
}
alone() { ON_GPUS=1 ours "$@"; }
several_gpus() {
  for sentences in 1 8; do keep "ours_alone_$sentences" "$1" alone even batch.global=$sentences; done
  keep ddp_in_turn "$1" peer step.py dimabsa ddp --gpus "$gpus"
  for sentences in 1 8; do
    keep "ddp_graphs_$sentences" "$1" peer step.py dimabsa_rows ddp_graphs --gpus "$gpus" --sentences $sentences
    keep "ours_$sentences" "$1" ours even batch.global=$((sentences * gpus))
    keep "ours_bf16_$sentences" "$1" ours even batch.global=$((sentences * gpus)) reduce_precision=bf16
    keep "ours_shared_$sentences" "$1" ours even batch.global=$((sentences * gpus)) shard_optimizer=true
  done
  for sentences in 1 2 8; do
    keep "ours_global_$sentences" "$1" ours even batch.global=$sentences
  done
}

date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
for repeat in $(seq "${REPEATS:-2}"); do
  if [ "$gpus" = 1 ]; then one_gpu "$repeat"; else several_gpus "$repeat"; fi
done
commit=$(measured_commit "$checkout")
python3 "$checkout/bench/runs_record.py" results --command "bench/dimabsa.sh $(basename "$out") $gpus" --commit "$commit" --date "$date" --gpus "$gpus" >record
mv record "$out"
cat "$out"
