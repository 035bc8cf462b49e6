#!/usr/bin/env bash
# Where the GPU time of a step goes, by kernel, beside what the machine can do at most; writes a record.
#   bench/kernels.sh OUT_FILE      one GPU; needs a python3 with torch for the ceilings
# Environment: LOCKSTEP names the tool (build/lockstep); WORKLOADS ("textgen gpt124m"); ROWS (25) of each
# table; LOCKSTEP_COMMIT where the checkout has no git history.
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
[ $# = 1 ] || die "kernels.sh takes the file to write" "bench/kernels.sh OUT_FILE"
out=$1 tool=${LOCKSTEP:-$checkout/build/lockstep} first=60 steps=10
[ -x "$tool" ] || die "$tool is not there" "build it with bench/gpu_build.sh, or name it with LOCKSTEP"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# table WORKLOAD: the kernels of ten steps, the most expensive first.
table() {
  "$tool" train textgen "preset=bench-$1" stop.steps=$((first + 2 * steps)) log.every_steps=$steps eval.every_steps=0 \
    profile.first_step=$first profile.steps=$steps "run.root=$work" --name "$1" --devices "${DEVICE:-0}" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    die "lockstep failed on $1"
  }
  python3 "$checkout/bench/kernel_table.py" "$work/$1/profile/rank0.json" $steps "${ROWS:-25}"
}

{
  echo "# Where the GPU time of a step goes, by kernel over $steps steps, and the ceilings; written by bench/kernels.sh."
  echo "command = \"bench/kernels.sh $(basename "$out")\""
  echo "commit = \"$(measured_commit "$checkout")\""
  echo "date = $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "machine = \"$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sed -n 1p)\""
  echo "driver = \"$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | sed -n 1p)\""
  if python3 -c 'import torch' 2>/dev/null; then
    ceilings=$(python3 "$checkout/bench/peers/ceilings.py")
    echo "ceilings = '$ceilings'"
  fi
  for workload in ${WORKLOADS:-textgen gpt124m}; do
    rows=$(table "$workload")
    printf "%s = '''\n%s\n'''\n" "$workload" "$rows"
  done
} >"$work/record"
mv "$work/record" "$out"
cat "$out"
