# shellcheck shell=bash disable=SC2034,SC2154
# Small bundles of wheels that a build needs beside LibTorch, each unpacked into a folder of the cache: cuDNN's
# front end, the CUDA compiler, LightGBM, build tools.

# In a shell of its own, because `die` ends it.
fetch_bundle() (
  list=$1 folder=$2 digest=$3 files=()
  mkdir -p "$cache/wheels" 2>/dev/null && [ -w "$cache" ] || exit 1
  exec 9>"$cache/lock"
  flock 9
  while read -r name version hash; do
    fetch_wheel "$name" "$version" "$hash"
    files+=("$(wheel_file "$name" "$version")")
  done < <(wheel_lines "$list")
  python3 "$here/lib/unpack_wheels.py" "$folder.$$" "${files[@]}" || exit 1
  echo "$digest" >"$folder.$$/.lockstep-complete"
  rm -rf "$folder"
  mv "$folder.$$" "$folder"
)

# use_bundle LIST FOLDER: the wheels of the list are unpacked in the folder afterwards; fails where they cannot be
# had.
use_bundle() {
  local digest
  digest=$(wheel_lines "$1" | sha256sum | cut -d' ' -f1)
  if [ "$(cat "$2/.lockstep-complete" 2>/dev/null)" = "$digest" ]; then return; fi
  fetch_bundle "$1" "$2" "$digest"
}

# Whether GPU code will be built: on a machine with GPUs, or on request.
wants_cuda() {
  case ${LOCKSTEP_CUDA:-} in
    ON) return 0 ;;
    OFF) return 1 ;;
  esac
  [ -n "$gpus" ]
}

# Sets `frontend` to the headers of cuDNN's front end; empty where no GPU code will be built, or where
# they cannot be had: ATen's attention serves then, and the next setup tries again.
use_cudnn_frontend() {
  local folder
  frontend=''
  wants_cuda || return 0
  folder=$cache/cudnn-frontend
  if use_bundle "$here/wheels-cudnn-frontend.txt" "$folder"; then
    frontend=$folder/include
  else
    say "going on without cuDNN's front end: attention on GPUs will be slower"
    incomplete=1
  fi
}

# Sets `nvcc` to the compiler of CUDA kernels: the user's, or the one of the wheels. Empty where no GPU code will be
# built or where it cannot be had: a toolkit of the machine serves then, if it fits, and the next setup tries again.
use_cuda_compiler() {
  local cuda folder=$cache/cuda-compiler
  nvcc=''
  wants_cuda || return 0
  if [ -n "${LOCKSTEP_NVCC:-}" ]; then
    [ -x "$LOCKSTEP_NVCC" ] || die "LOCKSTEP_NVCC is '$LOCKSTEP_NVCC', which is not a program" \
      "set it to the path of nvcc, or unset it to let the setup choose"
    nvcc=$LOCKSTEP_NVCC
    return
  fi
  cuda=$(torch_cuda "$torch_dir")
  if [ "${cuda%%.*}" != 13 ]; then return; fi
  if [ "$(uname -m)" = x86_64 ] && use_bundle "$here/wheels-cuda-compiler.txt" "$folder"; then
    nvcc=$folder/nvidia/cu13/bin/nvcc
  else
    say "the CUDA compiler could not be fetched: looking for a CUDA toolkit on this machine"
    incomplete=1
  fi
}

# Sets `lightgbm` to the folder with lib/lib_lightgbm.so; empty where it cannot be had: the recipe gbdt then needs
# gbdt.library. A build without a network is not to try again and again, so only a whole setup does.
use_lightgbm() {
  local folder=$cache/lightgbm
  lightgbm=''
  if [ "$(uname -m)" = x86_64 ] && [ -n "$(find_pip)" ] && use_bundle "$here/wheels-lightgbm.txt" "$folder"; then
    lightgbm=$folder/lightgbm
  else
    say "going on without LightGBM: the recipe gbdt will need gbdt.library=PATH (make setup tries again)"
  fi
}
