#!/usr/bin/env bash
# Makes this machine able to build Lockstep: system packages, a compiler, LibTorch. Writes the
# choices to .lockstep/torch and .lockstep/compiler.
#   setup.sh [--quick]     --quick: trust the last run where nothing that it looked at has changed
# Environment: LOCKSTEP_TORCH, LOCKSTEP_CACHE, CXX, CUDA_VISIBLE_DEVICES; LOCKSTEP_CUDA=ON also fetches
# what only GPU code needs, on a machine without a GPU; LOCKSTEP_TEST_PACKAGES=ON also installs what some
# tests need and skip without. For its tests:
# LOCKSTEP_WHEELS (another list of wheels), LOCKSTEP_SETUP_ROOT (where /etc, /proc and /dev are).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
chosen=$checkout/.lockstep
cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
# shellcheck source=scripts/torch-versions.sh
. "$here/torch-versions.sh"
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/packages.sh
. "$here/lib/packages.sh"
# shellcheck source=scripts/lib/gpus.sh
. "$here/lib/gpus.sh"
# shellcheck source=scripts/lib/torch.sh
. "$here/lib/torch.sh"
# shellcheck source=scripts/lib/wheels.sh
. "$here/lib/wheels.sh"
# shellcheck source=scripts/lib/cudnn_frontend.sh
. "$here/lib/cudnn_frontend.sh"

# Everything that the last run's choices depended on, as text.
state() {
  local root=${LOCKSTEP_SETUP_ROOT:-} torch
  torch=$(cat "$chosen/torch" 2>/dev/null || true)
  echo "${LOCKSTEP_TORCH:-}|$cache|${LOCKSTEP_WHEELS:-}|${CXX:-}|${CUDA_VISIBLE_DEVICES-unset}|$checkout"
  command -v python3 nvidia-smi cmake ninja || true
  stat -c '%n %Y %s' "$here"/*.sh "$here"/*.txt "$here"/lib/* "$root/var/lib/dpkg/status" \
    "$(cat "$chosen/compiler" 2>/dev/null || true)" "$torch/lib/libtorch_cpu.so" \
    "$torch/include/ATen/ATen.h" 2>/dev/null || true
  cat "$root/proc/driver/nvidia/version" 2>/dev/null || true
}

# write FILE TEXT: atomically, and not at all where it says that already.
write() {
  if [ "$(cat "$chosen/$1" 2>/dev/null)" = "$2" ]; then return; fi
  echo "$2" >"$chosen/$1.$$"
  mv "$chosen/$1.$$" "$chosen/$1"
}

main() {
  if [ "${1:-}" = --quick ] && [ -s "$chosen/state" ] && [ "$(state)" = "$(cat "$chosen/state")" ]; then return; fi
  trap 'say "interrupted; run make again to go on"; exit 130' INT TERM

  # Decide first: nothing is changed before it is known that all of it will do.
  select_torch
  local need=
  if [ -n "$wheels" ]; then
    [ "$(uname -m)" = x86_64 ] || die "the LibTorch wheels are for x86_64, but this machine is $(uname -m), which is not supported yet" \
      "set LOCKSTEP_TORCH to the folder of a torch $torch_oldest or newer built for this machine"
    name_unpacked
    is_unpacked || need=wheels
  fi
  find_missing "$need"
  if ((${#missing[@]})); then
    install_packages
    find_missing "$need"
    ((${#missing[@]} == 0)) || die "still missing after apt-get: ${missing[*]}" "see apt-get's messages above"
  fi
  if [ -n "$wheels" ]; then use_wheels; fi
  use_cudnn_frontend

  mkdir -p "$chosen"
  write torch "$torch_dir"
  write compiler "$compiler"
  write cudnn_frontend "$frontend"
  if [ -z "$frontend_missing" ]; then write state "$(state)"; else rm -f "$chosen/state"; fi
  say "LibTorch $(torch_version "$torch_dir") in $torch_dir, compiler $compiler"
}

main "$@"
