# run_step TOOL WORKLOAD GPUS [OPTION…]: trains one of the workloads that speed is measured on (textgen, gpt124m, volume,
# fewshot, dimabsa), and prints what bench/read_run.py reads off the run as one JSON line. Logged in windows, so that reading
# the loss does not stop every step. Needs `checkout` and `work`, a folder for what it writes; STEPS (200) and WARM_UP (60)
# of the environment. Data are made in `work` once.
run_step() {
  local tool=$1 workload=$2 gpus=$3 steps=${STEPS:-200} words
  shift 3
  case $workload in
    textgen | gpt124m) words=(textgen "preset=bench-$workload" "stop.steps=$steps" eval.every_steps=0) ;;
    volume) words=(volume preset=bench-volume "stop.steps=$steps") ;;
    fewshot)
      [ -e "$work/fewshot" ] || python3 "$checkout/bench/fewshot_set.py" "$work/fewshot" >"$work/log" 2>&1 || die "no set of pictures" "$(tail -n 3 "$work/log")"
      words=(fewshot preset=resnet50 "data.path=$work/fewshot" data.novel_share=0 episode.n_way=5 episode.k_shot=3 episode.queries=5
        "batch.global=$gpus" "stop.episodes=$((steps * gpus))" eval.every_epochs=0 checkpoint.every_epochs=0 precision=bf16)
      ;;
    dimabsa)
      [ -e "$work/dimabsa" ] || python3 "$checkout/bench/dimabsa_set.py" "$work/dimabsa" >"$work/log" 2>&1 || die "no set of sentences" "$(tail -n 3 "$work/log")"
      words=(dimabsa task=2 "model.path=$work/dimabsa/bert" "data.path=$work/dimabsa/eng_made_train_task2.jsonl" data.valid_share=0
        "batch.global=$((8 * gpus))" stop.epochs=0 "stop.steps=$steps" data.shuffle=false eval.every_epochs=0 checkpoint.every_epochs=0 precision=bf16)
      ;;
    *) die "there is no workload $workload" "textgen, gpt124m, volume, fewshot, dimabsa" ;;
  esac
  if ! "$tool" train "${words[@]}" log.every_steps=10 "run.root=$work/run" --name step \
    --devices "$(seq -s, 0 $((gpus - 1)))" "$@" >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    die "$tool failed on $workload" "options: $*"
  fi
  python3 "$checkout/bench/read_run.py" "$work/run/step" --after "${WARM_UP:-60}"
  rm -rf "$work/run"
}
