# shellcheck shell=bash disable=SC2034,SC2154
# The headers of cuDNN's front end, 2 MB, for attention on GPUs.

# Into `folder`; fails where it cannot be had or written. In a shell of its own, because `die` ends it.
fetch_frontend() (
  mkdir -p "$cache/wheels" 2>/dev/null && [ -w "$cache" ] || exit 1
  exec 9>"$cache/lock"
  flock 9
  fetch_wheel "$name" "$version" "$hash"
  wheel=$(wheel_file "$name" "$version")
  rm -rf "$folder"
  python3 "$here/lib/unpack_wheels.py" "$folder" "$wheel" || exit 1
  touch "$folder/.lockstep-complete"
)

# Sets `frontend` to the folder that holds them; empty where no GPU code will be built, or where
# they cannot be had: ATen's attention serves then, and the next setup tries again.
use_cudnn_frontend() {
  local list name version hash folder wheel
  frontend='' frontend_missing=''
  list=$here/wheels-cudnn-frontend.txt
  read -r name version hash < <(wheel_lines "$list")
  folder=$cache/cudnn-frontend-$version
  if [ ! -e "$folder/.lockstep-complete" ]; then
    if [ -z "$gpus" ] && [ "${LOCKSTEP_CUDA:-}" != ON ]; then return; fi
    if ! fetch_frontend; then
      say "going on without cuDNN's front end: attention on GPUs will be slower"
      frontend_missing=1
      return
    fi
  fi
  frontend=$folder/include
}
