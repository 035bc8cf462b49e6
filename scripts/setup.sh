#!/usr/bin/env bash
# Makes this machine able to build Lockstep: system packages, a compiler, LibTorch, the CUDA compiler where there
# are GPUs. Writes the choices to .lockstep/.
#   setup.sh [--quick] [--tests | --tool]     --quick: trust the last run where nothing that it looked at has changed
#                                    --tests: also what the tests are built with
#                                    --tool: what the tool alone is built with, without LibTorch; choices in .lockstep/tool/
# Environment: LOCKSTEP_TORCH, LOCKSTEP_CACHE, LOCKSTEP_DEPS, LOCKSTEP_NVCC, CXX, CUDA_VISIBLE_DEVICES;
# LOCKSTEP_CUDA=ON also fetches what GPU code needs on a machine without a GPU, OFF leaves it out on one with GPUs;
# LOCKSTEP_TEST_PACKAGES=ON also installs what some tests need and skip without. For its tests:
# LOCKSTEP_WHEELS (another list of wheels), LOCKSTEP_SETUP_ROOT (where /etc, /usr/share, /proc and /dev are).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib/choosing.sh
. "$here/lib/choosing.sh"
# shellcheck source=scripts/lib/unpacked.sh
. "$here/lib/unpacked.sh"

# Everything that the last run's choices depended on, as text.
state() {
  local root=${LOCKSTEP_SETUP_ROOT:-} torch name
  torch=$(cat "$chosen/torch" 2>/dev/null || true)
  for name in LOCKSTEP_TORCH LOCKSTEP_WHEELS LOCKSTEP_CUDA LOCKSTEP_NVCC LOCKSTEP_DEPS LOCKSTEP_TEST_PACKAGES CXX \
    CUDA_VISIBLE_DEVICES; do
    echo "$name=${!name-unset}"
  done
  echo "$cache|$checkout"
  command -v python3 nvidia-smi cmake ninja || true
  # GPUs come and go: a machine that gets some, a container that is started with them.
  compgen -G "$root/dev/nvidia*" || true
  compgen -G "$root/proc/driver/nvidia/gpus/*" || true
  stat -c '%n %Y %s' "$here"/*.sh "$here"/*.txt "$here"/lib/* "$root/var/lib/dpkg/status" \
    "$(cat "$chosen/compiler" 2>/dev/null || true)" "$(cat "$chosen/nvcc" 2>/dev/null || true)" \
    "$torch/lib/libtorch_cpu.so" "$torch/include/ATen/ATen.h" 2>/dev/null || true
  cat "$root/proc/driver/nvidia/version" 2>/dev/null || true
}

# write FILE TEXT: atomically, and not at all where it says that already.
write() {
  if [ "$(cat "$chosen/$1" 2>/dev/null)" = "$2" ]; then return; fi
  echo "$2" >"$chosen/$1.$$"
  mv "$chosen/$1.$$" "$chosen/$1"
}

# The last run will do: for what is asked now, and because nothing has changed since.
is_current() {
  [ -s "$chosen/state" ] && { [ "$tests" = OFF ] || [ "$(cat "$chosen/tests" 2>/dev/null)" = ON ]; } &&
    [ "$(state)" = "$(cat "$chosen/state")" ]
}

main() {
  local quick='' tests=OFF tool='' word
  for word; do
    case $word in
      --quick) quick=1 ;;
      --tests) tests=ON ;;
      --tool) tool=1 ;;
      *) die "setup.sh takes --quick, --tests and --tool, not '$word'" ;;
    esac
  done
  if [ -n "$tool" ]; then chosen=$chosen/tool LOCKSTEP_CUDA=OFF; fi
  if [ -n "$quick" ] && is_current; then return; fi
  trap 'say "interrupted; run make again to go on"; exit 130' INT TERM

  # Decide first: nothing is changed before it is known that all of it will do.
  choose_deps
  if [ -n "$tool" ]; then torch_dir='' wheels='' gpus=''; else select_torch; fi
  local need='' want_tests=''
  if [ -n "$wheels" ]; then
    [ "$(uname -m)" = x86_64 ] || die "the LibTorch wheels are for x86_64, but this machine is $(uname -m), which is not supported yet" \
      "set LOCKSTEP_TORCH to the folder of a torch $torch_oldest or newer built for this machine"
    name_unpacked
    is_unpacked || need=wheels
  fi
  if [ "$tests" = ON ]; then want_tests=tests; fi
  find_missing "$need" "$want_tests"
  if ((${#missing[@]})); then
    install_packages
    find_missing "$need" "$want_tests"
    ((${#missing[@]} == 0)) || die "still missing after the installation: ${missing[*]}" "see the messages above"
  fi
  install_optional
  if [ -n "$wheels" ]; then use_wheels; fi
  incomplete=''
  use_cudnn_frontend
  use_cuda_compiler
  use_lightgbm

  mkdir -p "$chosen"
  write torch "$torch_dir"
  write compiler "$compiler"
  write cudnn_frontend "$frontend"
  write nvcc "$nvcc"
  write lightgbm "$lightgbm"
  write deps "$deps"
  write cuda "$(if wants_cuda; then echo ON; else echo OFF; fi)"
  write architectures "$(gpu_architectures)"
  if [ "$tests" = ON ] || [ -n "$(absent_packages "$test_libraries")" ]; then write tests "$tests"; else write tests ON; fi
  if [ -z "$incomplete" ]; then write state "$(state)"; else rm -f "$chosen/state"; fi
  say "${torch_dir:+LibTorch $(torch_version "$torch_dir") in $torch_dir, }compiler $compiler"
}

main "$@"
