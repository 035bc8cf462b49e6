#!/usr/bin/env bash
# What watching costs: lockstep monitor, nvidia-smi dmon and nvitop (where it is installed), each at
# one sample a second, in turn.
#   bench/monitor.sh OUT.toml [SECONDS [ROUNDS]]      20 s, 2 rounds
# Counts the CPU time of each from 3 s after its start, and its peak memory. Environment: LOCKSTEP names the
# tool (build/lockstep).
set -euo pipefail

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/common.sh
. "$checkout/scripts/lib/common.sh"
out=${1:?bench/monitor.sh OUT.toml [SECONDS [ROUNDS]]} seconds=${2:-20} rounds=${3:-2}
tool=${LOCKSTEP:-$checkout/build/lockstep} work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v nvidia-smi >/dev/null || die "there is no nvidia-smi to compare with" "run it on a machine with GPUs"

start_lockstep() { exec "$tool" monitor --csv "$work/csv.$RANDOM$RANDOM" --interval 1s; }
start_dmon() { exec nvidia-smi dmon -s pucmt -d 1 >"$work/dmon"; }
start_nvitop() { exec script -qefc "stty cols 120 rows 40; exec python3 -m nvitop --monitor full --interval 1" "$work/nvitop"; }

# Ticks of the CPU and peak KiB of a process with those below it.
ticks() {
  local pid sum=0
  for pid in $(family "$1"); do
    sum=$((sum + $(sed 's/.*) //' "/proc/$pid/stat" | awk '{print $12 + $13}')))
  done
  echo "$sum"
}
family() {
  local child
  echo "$1"
  for child in $(cat "/proc/$1/task/$1/children"); do family "$child"; done
}
memory() {
  local pid sum=0
  for pid in $(family "$1"); do sum=$((sum + $(sed -n 's/VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status"))); done
  echo "$sum"
}

names=(lockstep dmon)
if python3 -c 'import nvitop' 2>/dev/null; then names+=(nvitop); fi
declare -A shares peaks
for _ in $(seq "$rounds"); do
  for name in "${names[@]}"; do
    "start_$name" </dev/null &
    pid=$!
    sleep 3
    before=$(ticks "$pid")
    sleep "$seconds"
    after=$(ticks "$pid") peak=$(memory "$pid")
    kill -TERM $(family "$pid") 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    share=$(awk -v t=$((after - before)) -v hz="$(getconf CLK_TCK)" -v s="$seconds" 'BEGIN {printf "%.4f", t / hz / s}')
    shares[$name]+="${shares[$name]:+, }$share" peaks[$name]+="${peaks[$name]:+, }$peak"
  done
done

{
  echo "# bench/monitor.sh: cores used and peak KiB while watching once a second, $seconds s each, in turn"
  echo "commit = \"$(measured_commit "$checkout")\""
  echo "date = $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "machine = \"$(nvidia-smi --query-gpu=name --format=csv,noheader | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd,)\""
  for name in "${names[@]}"; do
    printf '\n[%s]\ncores = [%s]\npeak_kib = [%s]\n' "$name" "${shares[$name]}" "${peaks[$name]}"
  done
} >"$work/record"
mv "$work/record" "$out"
cat "$out"
