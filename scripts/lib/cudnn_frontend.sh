# shellcheck shell=bash disable=SC2034,SC2154
# The headers of cuDNN's front end, 2 MB, for attention on GPUs.

# Sets `frontend` to the folder that holds them; empty where no GPU code will be built, or where
# they cannot be had: ATen's attention serves then.
use_cudnn_frontend() {
  local list name version hash folder wheel
  frontend=
  list=$here/wheels-cudnn-frontend.txt
  read -r name version hash < <(wheel_lines "$list")
  folder=$cache/cudnn-frontend-$version
  if [ ! -e "$folder/.lockstep-complete" ]; then
    if [ -z "$gpus" ] && [ "${LOCKSTEP_CUDA:-}" != ON ]; then return; fi
    if ! mkdir -p "$cache/wheels" 2>/dev/null; then return; fi
    exec 9>"$cache/lock"
    flock 9
    if ! (fetch_wheel "$name" "$version" "$hash"); then
      exec 9>&-
      say "going on without cuDNN's front end: attention on GPUs will be slower"
      return
    fi
    wheel=$(wheel_file "$name" "$version")
    rm -rf "$folder"
    python3 "$here/lib/unpack_wheels.py" "$folder" "$wheel" || exit 2
    touch "$folder/.lockstep-complete"
    exec 9>&-
  fi
  frontend=$folder/include
}
