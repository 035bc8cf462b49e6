# shellcheck shell=bash disable=SC2034,SC2154
# Which LibTorch is built against: LOCKSTEP_TORCH, the active Python's (with GPUs), or the wheels.

# torch_version DIR: its version from its own headers, as 2.11.0; nothing where there is none.
torch_version() {
  local header
  for header in "$1/include/torch/headeronly/version.h" "$1/include/torch/csrc/api/include/torch/version.h"; do
    if [ -r "$header" ] && grep -q 'define TORCH_VERSION_MAJOR [0-9]' "$header"; then
      awk '/define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]/ {v = v s $3; s = "."} END {print v}' "$header"
      return
    fi
  done
}

# torch_cuda DIR: the CUDA version that it was built for; nothing for a CPU build.
torch_cuda() {
  local found library
  found=$(sed -n "s/^cuda[^=]*= *'\([0-9.]*\)'.*/\1/p" "$1/version.py" 2>/dev/null) || found=
  if [ -z "$found" ]; then
    # A LibTorch without Python has no version.py, and brings its CUDA runtime.
    for library in "$1"/lib/libcudart*.so.[0-9]*; do
      if [ -e "$library" ]; then found=${library##*.so.}; fi
    done
  fi
  echo "$found"
}

supported_torch() { at_least "$1" "$torch_oldest" && ! at_least "$1" "$torch_limit"; }

# LOCKSTEP_TORCH names the folder with include/ and lib/, or the one above it.
use_given_torch() {
  local given=$LOCKSTEP_TORCH version
  if [ ! -d "$given/include/ATen" ] && [ -d "$given/torch/include/ATen" ]; then given=$given/torch; fi
  [ -e "$given/include/ATen/ATen.h" ] || die "LOCKSTEP_TORCH is '$LOCKSTEP_TORCH', which holds no LibTorch (no include/ATen/ATen.h)" \
    "set it to the folder 'torch' of a Python environment's site-packages, or unset it"
  [ -e "$given/lib/libtorch_cpu.so" ] || die "LOCKSTEP_TORCH is '$LOCKSTEP_TORCH', which has no lib/libtorch_cpu.so" \
    "set it to the folder 'torch' of a Python environment's site-packages, or unset it"
  version=$(torch_version "$given")
  supported_torch "${version:-0}" || die \
    "LOCKSTEP_TORCH must hold LibTorch $torch_oldest or newer and older than $torch_limit, but '$LOCKSTEP_TORCH' holds ${version:-an unknown version}" \
    "set it to another folder, or unset it to let the setup choose"
  torch_dir=$(realpath "$given")
}

# The torch of the active Python environment, found without importing it; fails where it will not do.
use_python_torch() {
  local found version
  found=$(cd / && python3 -c 'import importlib.util as u
spec = u.find_spec("torch")
print(spec.submodule_search_locations[0] if spec and spec.submodule_search_locations else "")' 2>/dev/null) || return 1
  [ -n "$found" ] || return 1
  version=$(torch_version "$found")
  if ! supported_torch "${version:-0}"; then
    say "the Python environment's torch ${version:-of an unknown version} is not used: it must be $torch_oldest or newer and older than $torch_limit"
    return 1
  fi
  if [ ! -e "$found/lib/libtorch_cuda.so" ] || [ ! -e "$found/include/ATen/ATen.h" ]; then
    say "the Python environment's torch $version is not used: it was built without CUDA or has no headers"
    return 1
  fi
  torch_dir=$(realpath "$found")
}

# Sets `torch_dir`, or `wheels` (list) and `wheels_kind` where it is to come from the wheels.
select_torch() {
  local here
  here=$(dirname "${BASH_SOURCE[0]}")/..
  torch_dir='' wheels='' wheels_kind=''
  find_gpus
  if [ -n "$gpus" ]; then check_capabilities; fi
  if [ -n "${LOCKSTEP_TORCH:-}" ]; then
    use_given_torch
  elif ! wants_cuda || ! use_python_torch; then
    # The wheels for GPUs hold all that the CPU needs: where they are there, they serve both.
    for wheels_kind in cuda cpu; do
      wheels=${LOCKSTEP_WHEELS:-$here/wheels-$wheels_kind.txt}
      name_unpacked
      if wants_cuda || is_unpacked; then break; fi
    done
  fi
  if [ -n "$gpus" ]; then check_driver "$(if [ -n "$wheels" ]; then echo "$wheels_cuda"; else torch_cuda "$torch_dir"; fi)"; fi
}
