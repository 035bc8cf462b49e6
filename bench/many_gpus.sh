#!/usr/bin/env bash
# What a machine with two, four or eight GPUs is asked once, in order of value:
#   tests    the tests that need GPUs, without those of the doctor
#   scaling  the steps of gpt124m (524,288 tokens whatever the number, and grown with it), of volume and textgen
#   peers    DDP with compile beside ours on the largest number
#   packing  small jobs packed on all, beside one per GPU
#   exact    whether 200 exact steps give bitwise the same weights on any number, and what they cost on all
#   monitor  what watching costs, and a recording of the doctor beside a healthy run on all
#   faults   a rank that is killed, that is stopped, that alone runs out of memory; resuming on fewer
#   doctor   the doctor's tests, whose recordings are kept
#   bench/many_gpus.sh FOLDER [PART…]      without a PART: all
# FOLDER gets a record per part, which grows while the part runs, and `log`. A part may take what the later ones do not
# need (`needs`), so that the first seven share 25 minutes; what is cut short is said, and the rest goes on. In calls of
# ten minutes, with TIME_S=540 each: "tests faults", "scaling exact", "peers packing monitor", "doctor".
# Ends with 2 where something went otherwise than it should. Needs a python3 with torch, ctest, and a build with tests.
# Environment: BUILD is the folder of programs (build); GPUS, how many (all; of 3, 5, 6, 7 the power of two below);
# TIME_S (1500), seconds in all; LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
# shellcheck source=scripts/lib/gpus.sh
. "$checkout/scripts/lib/gpus.sh"

usage="bench/many_gpus.sh FOLDER [PART…]"
all=(tests scaling peers packing exact monitor faults doctor)
declare -A needs=([tests]=330 [scaling]=410 [peers]=300 [packing]=110 [exact]=120 [monitor]=80 [faults]=150 [doctor]=360) # s
[ $# -ge 1 ] || die "many_gpus.sh takes a folder" "$usage"
parts=("${@:2}")
if ((${#parts[@]} == 0)); then parts=("${all[@]}"); fi
for one in "${parts[@]}"; do
  [ -n "${needs[$one]:-}" ] || die "many_gpus.sh has no part '$one'" "parts: ${all[*]}"
done
build=$(realpath "${BUILD:-$checkout/build}")
export LOCKSTEP=$build/lockstep
for one in lockstep lockstep-worker liblockstep-cuda.so; do
  [ -e "$build/$one" ] || die "$build/$one is not there" "build it with bench/gpu_build.sh, or name the folder with BUILD"
done
there=$(smi name | wc -l) || there=0
gpus=0
for one in 2 4 8; do ((one > ${GPUS:-$there})) || gpus=$one; done
((gpus > 0)) || die "many_gpus.sh needs two GPUs or more, but this machine has $there"
mkdir -p "$1"
folder=$(cd "$1" && pwd)
log=$folder/log
end=$((SECONDS + ${TIME_S:-1500}))

# Programs that were brought from another machine find libraries beside them, and this machine's torch.
absent() {
  { ldd "$build/lockstep" "$build/lockstep-worker" "$build/liblockstep-cuda.so" 2>/dev/null || true; } |
    sed -n 's/^[[:space:]]*\(.*\) => not found/\1/p' | sort -u | xargs
}
if [ -n "$(absent)" ]; then
  torch=$(python3 -c 'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0])' 2>/dev/null) || torch=/
  export LD_LIBRARY_PATH=$build:$torch/lib:$torch/../nvidia/cu13/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  [ -z "$(absent)" ] || die "the programs in $build need $(absent), which this machine does not have" "copy it from where they were built into $build"
fi
# Nor does such a build find the CMake that lists its tests: the lists that came with it count.
lister=$(sed -n 's/^ *include("\(.*GoogleTestAddTests[.]cmake\)")/\1/p' "$build"/tests/gpu/*_include.cmake 2>/dev/null | sed -n 1p) || lister=''
if [ -n "$lister" ] && [ ! -e "$lister" ]; then find "$build/tests" -name '*_tests.cmake' -exec touch {} +; fi

exec 3>&2
tell() { say "$*" 2>&3; }
# What was cut short may have left something running: whatever inherited this variable.
export LOCKSTEP_MANY_GPUS=$$.$RANDOM
end_left_over() {
  local file
  for file in /proc/[0-9]*/environ; do
    if grep -qsz "^LOCKSTEP_MANY_GPUS=$LOCKSTEP_MANY_GPUS\$" "$file"; then kill -KILL "$(basename "${file%/environ}")" 2>/dev/null || true; fi
  done
}
work=$(mktemp -d)
trap 'end_left_over; rm -rf "$work"' EXIT
cd "$work"

# limited SECONDS COMMAND…: at most so long, and no longer than the part may take.
limited() {
  local seconds=$1 code=0
  shift
  ((seconds <= part_end - SECONDS)) || seconds=$((part_end - SECONDS))
  if ((seconds < 5)); then
    tell "no time is left for: $*"
    return 124
  fi
  timeout --kill-after=15 "$seconds" "$@" || code=$?
  if ((code == 124 || code == 137)); then
    tell "cut short after $seconds s: $*"
    end_left_over
  fi
  return "$code"
}
# wait_until SECONDS COMMAND…: fails where the command still does after that time, or once process `pid` has ended.
wait_until() {
  local limit=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < limit && SECONDS < part_end)) && kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.2
  done
}
devices() { seq -s, 0 $(($1 - 1)); }
# One GPU first, with which the others are compared; then the largest number.
numbers() { for n in 1 8 4 2; do ((n > gpus)) || echo "$n"; done; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.3f", a / b}'; }
# said LOG [PATTERN]: the line of that pattern, or the error that a log holds, or its end, fit for a string of TOML.
said() { { grep -m 1 "${2:-^error}" "$1" || grep -m 1 '^error' "$1" || tail -n 2 "$1"; } | tr -d '"\134' | tr -cs '[:print:]' ' ' | sed 's/ *$//'; }

head_of() {
  printf '# Written by bench/many_gpus.sh.\ncommand = "bench/many_gpus.sh FOLDER %s"\ncommit = "%s"\ndate = %s\n' "$1" \
    "$(measured_commit "$checkout")" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  printf 'machine = "%s"\ndriver = "%s"\ncores = %s\ngpus = %s\n\n' \
    "$(smi name | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd,)" "$(smi driver_version | sed -n 1p)" "$(nproc)" "$gpus"
}

# step NAME GPUS AFTER WORDS…: a run, and its step after so many steps, as a table of the record. Sets `step_ms`.
declare -A alone # a name's step on one GPU, ms
step() {
  local name=$1 on=$2 after=$3 result=''
  shift 3
  rm -rf runs/step
  printf '[[step]]\nof = "%s"\ngpus = %s\nwords = "%s"\n' "$name" "$on" "$*"
  if ! limited 120 "$LOCKSTEP" train "$@" --devices "$(devices "$on")" --name step >step.log 2>&1 ||
    ! result=$(python3 "$checkout/bench/read_run.py" runs/step --after "$after" 2>>step.log); then
    printf 'failed = "%s"\n\n' "$(said step.log)"
    { echo "$name on $on:" && tail -n 40 step.log; } >>"$log"
    tell "$name on $on failed: $(said step.log)"
    return 1
  fi
  step_ms=$(sed -n 's/.*"step_ms": \([0-9.]*\).*/\1/p' <<<"$result")
  printf "step_ms = %s\nresult = '%s'\n" "$step_ms" "$result"
  if ((on == 1)); then alone[$name]=$step_ms; fi
  if [ -n "${alone[$name]:-}" ]; then printf 'one_over_this = %s\n' "$(ratio "${alone[$name]}" "$step_ms")"; fi
  echo
}

gpt_fixed() {
  step gpt124m_fixed "$1" 8 textgen preset=bench-gpt124m batch.global=512 batch.accumulation=$((16 / $1)) stop.steps=$((16 + 8 * $1)) log.every_steps=4
}
gpt_grown() { step gpt124m_grown "$1" 40 textgen preset=bench-gpt124m stop.steps=100 log.every_steps=10; }
# The eight volumes that are made give so many patches that an epoch is whole steps on any number.
volume_fixed() {
  step volume_fixed "$1" 20 volume preset=bench-volume data.patches=512 batch.global=256 batch.accumulation=$((16 / $1)) \
    stop.steps=$((30 + 10 * $1)) log.every_steps=5
}
volume_grown() { step volume_grown "$1" 30 volume preset=bench-volume data.patches=512 stop.steps=80 log.every_steps=10; }
textgen_fixed() {
  step textgen_fixed "$1" 40 textgen preset=bench-textgen batch.global=512 batch.accumulation=$((32 / $1)) stop.steps=$((60 + 20 * $1)) \
    log.every_steps=10
}
textgen_grown() { step textgen_grown "$1" 60 textgen preset=bench-textgen stop.steps=200 log.every_steps=10; }
scaling() {
  local n kind code=0 others=(volume_fixed volume_grown textgen_fixed textgen_grown)
  for kind in gpt_fixed gpt_grown; do
    for n in $(numbers); do "$kind" "$n" || code=1; done
  done
  for kind in "${others[@]}"; do
    for n in 1 "$gpus"; do "$kind" "$n" || code=1; done
  done
  for n in $(numbers); do
    if ((n == 1 || n == gpus)); then continue; fi
    for kind in "${others[@]}"; do "$kind" "$n" || code=1; done
  done
  return "$code"
}

exact() {
  local n code=0 plain_ms='' hash first='' equal=() weights=runs/step/checkpoints/step-000000200/model.safetensors
  local words=(textgen preset=bench-textgen batch.global=256 batch.micro=16 batch.accumulation=0 stop.steps=200 log.every_steps=10)
  if step plain "$gpus" 60 "${words[@]}"; then plain_ms=$step_ms; else code=1; fi
  for n in $(numbers); do
    if ! step exact "$n" 60 "${words[@]}" exact=true || ! hash=$(sha256sum <"$weights"); then
      code=1
      continue
    fi
    printf '[[weights]]\ngpus = %s\nsha256 = "%s"\n\n' "$n" "${hash%% *}"
    if ((n == gpus)) && [ -n "$plain_ms" ]; then printf '[cost]\ngpus = %s\ntime = %s  # of plain\n\n' "$n" "$(ratio "$step_ms" "$plain_ms")"; fi
    first=${first:-$hash}
    if [ "$hash" = "$first" ]; then equal+=("$n"); else code=1; fi
  done
  printf '[bitwise]\nequal_on = [%s]\n' "$(IFS=, && echo "${equal[*]}")"
  if [ "${equal[*]}" = "$(numbers | xargs)" ]; then echo "equal_on_all = true"; else echo "equal_on_all = false" && code=1; fi
  return "$code"
}

gpu_tests() {
  local record=$1 code=0
  shift
  limited 3600 env RECORD="$folder/$record" TEST_UNTIL=$(($(date +%s) + part_end - SECONDS - 25)) \
    "$checkout/scripts/gpu-test.sh" "$build" "$@" >>"$log" 2>&1 || code=$?
  tell "$record: $(tail -n 20 "$log" | grep -E ' passed, |^error' | tail -n 1)"
  return "$code"
}
tests() {
  local program
  for program in gpu-tests gpu-memory gpu-train gpu-own-kernel gpu-own-kernel-runs; do
    [ -x "$build/tests/$program" ] || tell "$build/tests/$program is not there: its tests are left out"
  done
  gpu_tests gpu-tests.toml -LE python -E '^gpu-doctor/'
}
doctor() {
  local code=0
  mkdir -p recordings
  DOCTOR_RECORDINGS=$work/recordings gpu_tests doctor-tests.toml -R '^gpu-doctor/' || code=$?
  tar -C "$work" -czf "$folder/doctor-recordings.tar.gz" recordings
  return "$code"
}

peers() {
  local workload code=0
  for workload in gpt124m textgen volume; do
    limited 200 env PEER=compile REPEATS=1 WORKLOADS="$workload" "$checkout/bench/step.sh" \
      "$folder/step-$gpus-compile-$workload.toml" "$gpus" >>"$log" 2>&1 || code=1
  done
  return "$code"
}

children() { cat "/proc/$1/task/$1/children" 2>/dev/null || true; }
# rank_of PID RANK: the process of a rank, of a tool that `timeout` started.
rank_of() {
  local tool pid
  for tool in $(children "$1"); do
    for pid in $(children "$tool"); do
      if tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "RANK=$2"; then echo "$pid"; fi
    done
  done
}
has_stepped() { grep -qs '"kind": *"step"' "runs/$1/events.jsonl"; }
checkpoints() { compgen -G "runs/$1/checkpoints/step-*/manifest.json"; }
newest_step() {
  local path
  path=$(checkpoints "$1" | sort | tail -n 1) && path=${path%/manifest.json} && echo $((10#${path##*/step-}))
}
# begin NAME WORDS…: a run on all GPUs in the background, `pid`. Its batch can be shared by 8, 6, 4, 3 and 2.
begin() {
  local name=$1
  shift
  timeout --kill-after=15 120 "$LOCKSTEP" train textgen preset=bench-textgen batch.global=384 batch.micro=16 batch.accumulation=0 \
    stop.steps=1000000 --devices "$(devices "$gpus")" --name "$name" "$@" >"$name.log" 2>&1 &
  pid=$!
}
# outcome NAME SINCE CODE EXPECTED PATTERN: a table of the record; the log is that of the name.
outcome() {
  local as_expected=false
  if [ "$3" = "$4" ] && grep -q "$5" "$1.log"; then as_expected=true; fi
  printf '[%s]\nas_expected = %s\nexit_code = %s\nseconds = %s\nsaid = "%s"\n\n' "$1" "$as_expected" "$3" $((SECONDS - $2)) "$(said "$1.log" "$5")"
  { echo "$1:" && tail -n 40 "$1.log"; } >>"$log"
  [ "$as_expected" = true ] || tell "$1 did not end as it should: $(said "$1.log")"
  $as_expected
}

monitor() {
  local code=0 found=0 pid
  limited 90 "$checkout/bench/monitor.sh" "$folder/monitor.toml" 15 1 >>"$log" 2>&1 || code=1
  begin healthy
  if wait_until 60 has_stepped healthy && sleep 3; then
    rm -f "$folder/doctor.jsonl"
    limited 30 "$LOCKSTEP" doctor healthy --record "$folder/doctor.jsonl" >>"$log" 2>&1 || found=$?
    ((found <= 1)) || code=1  # 1: it found something
    tell "the doctor beside a healthy run on all ended with $found: see log"
  else
    tell "the run for the doctor did not begin: $(said healthy.log)"
    code=1
  fi
  kill -TERM "$pid" 2>/dev/null || true
  wait "$pid" || true
  return "$code"
}

# signalled NAME SIGNAL PATTERN WORDS…: the last rank of a run gets a signal after the first checkpoint.
signalled() {
  local name=$1 signal=$2 pattern=$3 pid code=0 since ranks
  shift 3
  begin "$name" checkpoint.every_steps=200 "$@"
  wait_until 70 checkpoints "$name" >/dev/null || true
  ranks=$(rank_of "$pid" "$last")
  since=$SECONDS
  if [ -n "$ranks" ]; then kill "-$signal" "$ranks"; else kill -TERM "$pid" || true; fi
  wait "$pid" || code=$?
  outcome "$name" "$since" "$code" 1 "$pattern"
}
resumed() {
  local name=resumed_on_$1 code=0 since=$SECONDS step
  step=$(newest_step killed) || step=0
  limited 90 "$LOCKSTEP" resume killed --devices "$(devices "$1")" stop.steps=$((step + 100)) >"$name.log" 2>&1 || code=$?
  outcome "$name" "$since" "$code" 0 'resumed at step'
}
# Its worker gives the last rank alone memory for a quarter of its micro-batch.
scarce() {
  local code=0 since=$SECONDS fraction ranks
  mkdir -p scarce
  ln -sf "$build"/* scarce/
  rm -f scarce/lockstep scarce/lockstep-worker
  cp "$build/lockstep" scarce/
  fraction=$(smi memory.total | awk 'NR == 1 {printf "%.5f", 1.5e9 / ($1 * 1048576)}')
  cat >scarce/lockstep-worker <<WORKER
#!/usr/bin/env bash
if [ "\${RANK:-}" = $last ]; then export PYTORCH_ALLOC_CONF=per_process_memory_fraction:$fraction; fi
exec "$build/lockstep-worker" "\$@"
WORKER
  chmod +x scarce/lockstep-worker
  limited 90 scarce/lockstep train textgen preset=bench-textgen batch.micro=64 batch.accumulation=0 batch.global=$((64 * gpus)) stop.steps=40 \
    --devices "$(devices "$gpus")" --name scarce >out_of_memory.log 2>&1 || code=$?
  ranks=$(python3 -c '
import json, sys
events = [json.loads(line) for line in open(sys.argv[1]) if line.strip()]
print(*sorted({rank["rank"] for event in events if event.get("kind") == "memory" for rank in event["ranks"]}))' runs/scarce/events.jsonl) || ranks=unknown
  if [ "$ranks" != "$last" ]; then
    echo "error: memory ran out on ranks: ${ranks:-none}" >>out_of_memory.log
    if ((code == 0)); then code=1; fi
  fi
  outcome out_of_memory "$since" "$code" 0 "out of memory on rank $last "
}
faults() {
  local last=$((gpus - 1)) code=0 fewer=(1) number
  if ((gpus == 4)); then fewer=(2 3); elif ((gpus == 8)); then fewer=(2 6); fi
  signalled killed KILL "error: rank $last " || code=1
  for number in "${fewer[@]}"; do resumed "$number" || code=1; done
  signalled stopped STOP "error: rank $last .*stopped by a signal" stop.hang_after=10s || code=1
  scarce || code=1
  return "$code"
}

# recorded NAME: a part whose record is what it prints.
recorded() { { head_of "$1" && "$1"; } >"$folder/$1.toml"; }
part() {
  case $1 in
    scaling | exact | faults) recorded "$1" ;;
    packing) limited 150 env ONLY=textgen_small LIMIT=30 DEVICES="$(devices "$gpus")" "$checkout/bench/packing.sh" "$folder/packing.toml" >>"$log" 2>&1 ;;
    *) "$1" ;;
  esac
}
failed=()
for i in "${!parts[@]}"; do
  one=${parts[i]}
  later=0
  for other in "${parts[@]:i+1}"; do later=$((later + needs[$other])); done
  part_end=$((end - later))
  if ((part_end < SECONDS + needs[$one])); then part_end=$((SECONDS + needs[$one])); fi
  if ((part_end > end)); then part_end=$end; fi
  if ((part_end - SECONDS < 20)); then
    tell "no time is left for $one"
    failed+=("$one")
    continue
  fi
  tell "$one, at most $((part_end - SECONDS)) s"
  echo "== $one" >>"$log"
  if part "$one"; then tell "$one is done"; else failed+=("$one") && tell "$one did not end well: see $folder"; fi
  end_left_over
done
((${#failed[@]} == 0)) || die "not all went as it should: ${failed[*]}" "see $folder"
