# run_step TOOL WORKLOAD GPUS [OPTION…]: trains one of the workloads that speed is measured on, and prints what
# bench/read_run.py reads off the run as one JSON line. Logged in windows, so that reading the loss does not stop every
# step. Needs `checkout` and `work`, a folder for what it writes; STEPS (200) and WARM_UP (60) of the environment.
run_step() {
  local tool=$1 workload=$2 gpus=$3
  shift 3
  if ! "$tool" train textgen "preset=bench-$workload" "stop.steps=${STEPS:-200}" log.every_steps=10 \
    eval.every_steps=0 "run.root=$work/run" --name step --devices "$(seq -s, 0 $((gpus - 1)))" "$@" >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    die "$tool failed on $workload" "options: $*"
  fi
  python3 "$checkout/bench/read_run.py" "$work/run/step" --after "${WARM_UP:-60}"
  rm -rf "$work/run"
}
