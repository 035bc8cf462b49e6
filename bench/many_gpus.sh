#!/usr/bin/env bash
# What a machine with four or eight GPUs is asked, in order of value, each part within its share of the time: the tests; how the
# steps of gpt124m, textgen and volume scale, beside DDP with compile; small jobs packed on all; exact mode; what the monitor
# costs, and a recording for the doctor; a rank that is killed, that hangs, that runs out of memory, and resuming on fewer.
#   bench/many_gpus.sh FOLDER [PART…]      parts: tests scaling packing exact monitor faults; without: all
# FOLDER gets a record or a log per part. Needs a python3 with torch, and a build with tests.
# Environment: BUILD is the folder of programs (build); GPUS (all); MINUTES (25) in all; LOCKSTEP_COMMIT where the checkout has
# no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# -ge 1 ] || die "many_gpus.sh takes a folder" "bench/many_gpus.sh FOLDER [PART…]"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
parts=("${@:-tests}")
if [ $# = 0 ]; then parts=(tests scaling packing exact monitor faults); fi
build=${BUILD:-$checkout/build}
export LOCKSTEP=$build/lockstep
gpus=${GPUS:-$(nvidia-smi --query-gpu=index --format=csv,noheader | wc -l)}
end=$((SECONDS + ${MINUTES:-25} * 60))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# within SHARE COMMAND…: in hundredths of the time that is left; what is cut short is said, and the rest goes on.
within() {
  local seconds=$(((end - SECONDS) * $1 / 100)) code=0
  shift
  if ((seconds < 20)); then
    say "no time is left for: $*"
    return
  fi
  timeout --kill-after=20 "$seconds" "$@" || code=$?
  ((code == 0)) || say "ended with $code after at most $seconds s: $*"
}
devices() { seq -s, 0 $(($1 - 1)); }
numbers() { for n in 1 2 4 8; do ((n > gpus)) || echo "$n"; done; }

# step NAME GPUS WORDS…: a line of the record.
step() {
  local name=$1 on=$2
  shift 2
  rm -rf runs/step
  if "$LOCKSTEP" train "$@" --devices "$(devices "$on")" --name step log.every_steps=2 eval.every_epochs=0 eval.every_steps=0 \
    checkpoint.every_epochs=0 >log 2>&1; then
    printf '[[step]]\nof = "%s"\ngpus = %s\nwords = "%s"\nresult = %s\n\n' "$name" "$on" "$*" \
      "'$(python3 "$checkout/bench/read_run.py" runs/step --after "${AFTER:-8}")'"
  else
    printf '[[step]]\nof = "%s"\ngpus = %s\nfailed = "%s"\n\n' "$name" "$on" "$(tail -n 1 log | tr -d '"')"
  fi
}

scaling() {
  local n
  for n in $(numbers); do  # 524,288 tokens whatever the number
    step gpt124m_fixed "$n" textgen preset=bench-gpt124m batch.global=512 batch.micro=32 "batch.accumulation=$((16 / n))" stop.steps=24
  done
  for n in $(numbers); do
    AFTER=40 step gpt124m_grown "$n" textgen preset=bench-gpt124m stop.steps=80
    AFTER=40 step textgen_grown "$n" textgen preset=bench-textgen stop.steps=120
    AFTER=20 step volume_grown "$n" volume preset=bench-volume "batch.global=$((32 * n))" stop.steps=50 stop.epochs=0
  done
}
exact() {
  local n
  for n in $(numbers); do
    AFTER=60 step exact "$n" textgen preset=bench-textgen exact=true batch.global=256 batch.micro=16 batch.accumulation=0 stop.steps=200
    AFTER=60 step plain "$n" textgen preset=bench-textgen batch.global=256 batch.micro=16 batch.accumulation=0 stop.steps=200
  done
}
head_of() { printf 'command = "bench/many_gpus.sh FOLDER %s"\ncommit = "%s"\ndate = "%s"\ngpus = %s\n\n' "$1" "$(measured_commit "$checkout")" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$gpus"; }

# A run on all GPUs goes wrong on the last rank and is resumed on fewer.
faults() {
  local last=$((gpus - 1)) code pid fewer
  "$LOCKSTEP" train textgen preset=bench-textgen stop.steps=4000 checkpoint.every_steps=100 --devices "$(devices "$gpus")" --name killed >killed.log 2>&1 &
  pid=$!
  sleep 25
  pkill -KILL -f "lockstep-worker.*--rank[= ]$last" || pkill -KILL -n lockstep-worker
  code=0
  wait $pid || code=$?
  printf '[killed]\nexit_code = %s\nsaid = "%s"\n' "$code" "$(tail -n 3 killed.log | tr '\n"' ' ')"
  for fewer in 2 $((gpus - 2)); do
    ((fewer > 0)) || continue
    code=0
    "$LOCKSTEP" resume killed --devices "$(devices "$fewer")" stop.steps=400 >"resumed-$fewer.log" 2>&1 || code=$?
    printf '[resumed_on_%s]\nexit_code = %s\nsaid = "%s"\n' "$fewer" "$code" "$(tail -n 2 "resumed-$fewer.log" | tr '\n"' ' ')"
  done
  code=0
  PYTORCH_ALLOC_CONF=per_process_memory_fraction:0.02 "$LOCKSTEP" train textgen preset=bench-textgen batch.micro=64 stop.steps=40 \
    --devices "$(devices "$gpus")" --name scarce >scarce.log 2>&1 || code=$?
  printf '[out_of_memory]\nexit_code = %s\nsaid = "%s"\n' "$code" "$(grep -m 1 'out of memory' scarce.log | tr -d '"')"
  "$build/tests/gpu-train" --gtest_filter='Gpus/*Hang*:Gpus/ScarceMemory*' >hang.log 2>&1 || true
  printf '[hang]\nsaid = "%s"\n' "$(tail -n 2 hang.log | tr '\n"' ' ')"
}

part() {
  case $1 in
    tests) within 40 "$checkout/scripts/gpu-test.sh" "$build" >"$folder/tests.log" 2>&1 && cp "$checkout/bench/results/gpu-tests.toml" "$folder/" ;;
    scaling)
      { head_of scaling && scaling; } >"$folder/scaling.toml"
      PEER=compile REPEATS=1 within 30 "$checkout/bench/step.sh" "$folder/step-$gpus-compile.toml" "$gpus" >"$folder/step.log" 2>&1
      ;;
    packing) within 30 "$checkout/bench/packing.sh" "$folder/packing.toml" >"$folder/packing.log" 2>&1 ;;
    exact) { head_of exact && exact; } >"$folder/exact.toml" ;;
    monitor)
      within 30 "$checkout/bench/monitor.sh" "$folder/monitor.toml" 15 1 >"$folder/monitor.log" 2>&1
      within 20 "$LOCKSTEP" doctor --record "$folder/doctor.jsonl" >"$folder/doctor.log" 2>&1
      ;;
    faults) { head_of faults && faults; } >"$folder/faults.toml" ;;
    *) die "many_gpus.sh has no part '$1'" "parts: tests scaling packing exact monitor faults" ;;
  esac
}
for one in "${parts[@]}"; do
  ((SECONDS < end)) || { say "no time is left for $one" && continue; }
  say "$one, $(((end - SECONDS) / 60)) min left"
  part "$one" || say "$one did not end well: see $folder"
done
