# shellcheck shell=bash disable=SC2034,SC2154
# prepare_batches OUT_FILE: what benchmarks of batches on GPUs begin with. Sets `tool`, `work` (a folder that goes with
# the script), `out` and `device_count`; exports COMMIT. Leases and ledgers lie in the folder, beside nobody else's.
prepare_batches() {
  tool=${LOCKSTEP:-$checkout/build/lockstep}
  [ -x "$tool" ] || die "$tool is not there" "build the targets lockstep, lockstep-worker and lockstep-cuda"
  tool=$(realpath "$tool")
  case $1 in /*) out=$1 ;; *) out=$PWD/$1 ;; esac
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  export XDG_STATE_HOME=$work/state COMMIT
  COMMIT=$(measured_commit "$checkout")
  if [ -n "${DEVICES:-}" ]; then
    device_count=$(tr ',' '\n' <<<"$DEVICES" | grep -c .)
  else
    device_count=$("$tool" devices --json 2>/dev/null | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["gpus"]))' 2>/dev/null || echo 0)
  fi
}
