# shellcheck shell=bash disable=SC2034,SC2154
# The NVIDIA GPUs of this machine: are there any, are they new enough, is the driver.

# smi FIELDS: one line a GPU; fails where nvidia-smi is absent or finds no driver.
smi() { nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null; }

# Sets `gpus` to lines "NAME, CAPABILITY" (CAPABILITY is empty where only /proc tells).
# CUDA_VISIBLE_DEVICES set to nothing or -1 hides them all, as it does from CUDA.
find_gpus() {
  local root=${LOCKSTEP_SETUP_ROOT:-}
  gpus=
  if [ "${CUDA_VISIBLE_DEVICES-0}" = "" ] || [ "${CUDA_VISIBLE_DEVICES-0}" = -1 ]; then return; fi
  if command -v nvidia-smi >/dev/null; then
    gpus=$(smi name,compute_cap) || gpus=$(smi name) || gpus=
    if [ -n "$gpus" ]; then return; fi
  fi
  # A container may see the host's /proc without having its devices.
  if [ -e "$root/dev/nvidiactl" ]; then
    gpus=$(sed -n 's/^Model:[[:space:]]*\(.*\)/\1,/p' "$root"/proc/driver/nvidia/gpus/*/information 2>/dev/null) || gpus=
  fi
  if [ -z "$gpus" ] && [ -e "$root/dev/nvidiactl" ]; then
    say "there are NVIDIA device files, but nvidia-smi finds no working driver: setting up for the CPU"
  fi
}

# Refuses a machine all of whose GPUs are too old, by name; says which are left out otherwise.
check_capabilities() {
  local name capability old=() good=0
  while IFS=, read -r name capability; do
    capability=${capability// /}
    if [ -z "$capability" ] || at_least "$capability" "$oldest_capability"; then
      good=$((good + 1))
    else
      old+=("$name (sm_${capability/./})")
    fi
  done <<<"$gpus"
  if ((${#old[@]} == 0)); then return; fi
  local names
  names=$(printf '%s, ' "${old[@]}")
  if ((good == 0)); then
    die "GPU too old: ${names%, }; Lockstep needs sm_${oldest_capability/./} (T4) or newer" \
      "to train on the CPU of this machine, set CUDA_VISIBLE_DEVICES= (to nothing)"
  fi
  say "GPU too old and not used: ${names%, } (needs sm_${oldest_capability/./} or newer)"
}

# The architectures to compile for, "75;90": those of this machine's GPUs, or nothing where they are not known.
gpu_architectures() {
  sed -n 's/.*, *\([0-9]*\)\.\([0-9]*\) *$/\1\2/p' <<<"$gpus" | sort -nu | paste -sd ';'
}

# check_driver CUDA: CUDA is the version (13.0) that LibTorch was built for.
check_driver() {
  local cuda=$1 driver supported needed
  case ${cuda%%.*} in
    12) needed=$driver_for_cuda_12 ;;
    13) needed=$driver_for_cuda_13 ;;
    *) return 0 ;;
  esac
  driver=$(smi driver_version | sed -n 1p) || driver=
  if [ -z "$driver" ]; then
    driver=$(sed -n 's/.*Kernel Module[^0-9]*\([0-9][0-9.]*\).*/\1/p' \
      "${LOCKSTEP_SETUP_ROOT:-}/proc/driver/nvidia/version" 2>/dev/null) || driver=
  fi
  # nvidia-smi's own word counts first: a compatibility package may lift an old driver.
  supported=$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA[A-Za-z ]* Version: *\([0-9]*\.[0-9]*\).*/\1/p' | sed -n 1p) || supported=
  if [ -n "$supported" ]; then
    if at_least "$supported" "${cuda%%.*}"; then return 0; fi
  elif [ -z "$driver" ] || at_least "$driver" "$needed"; then
    return 0
  fi
  # The second package has a header that those of torch lack.
  local other='' oldest=$driver_for_cuda_12
  if [ -n "$supported" ]; then oldest=12; fi
  if [ "${cuda%%.*}" = 13 ] && at_least "${supported:-$driver}" "$oldest"; then
    other=", or build against a torch for CUDA 12, 2.5 GB: python3 -m pip install --target torch-cuda-12 torch==2.11.0+cu126 \
nvidia-cuda-nvcc-cu12==12.6.77 --extra-index-url https://download.pytorch.org/whl/cu126 && LOCKSTEP_TORCH=\$PWD/torch-cuda-12/torch make build"
  fi
  die "the NVIDIA driver ${driver:-of this machine} supports CUDA ${supported:-older than $cuda}, but this LibTorch needs CUDA $cuda" \
    "update the driver to $needed or newer$other; to build for the CPU only: LOCKSTEP_CUDA=OFF make build"
}
