# shellcheck shell=bash disable=SC2034
# Python programs for tasks of the project, each in an environment of its own in the cache.

# python_tools NAME REQUIREMENTS: sets `tools` to the environment with these packages; makes it where it is not there, in
# place of those with other packages.
python_tools() {
  local cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
  tools=$cache/$1-$(sha256sum "$2" | cut -c1-12)
  if [ -e "$tools/complete" ]; then return; fi
  if ! mkdir -p "$cache" || ! [ -w "$cache" ]; then
    die "the packages of $2 could not be installed: $cache cannot be written to" "set LOCKSTEP_CACHE to a folder of your own"
  fi
  # Two at once would write into one folder.
  exec 9>"$tools.lock"
  flock 9
  if [ ! -e "$tools/complete" ]; then
    say "fetching the packages of ${2##*/} into $tools"
    find "$cache" -maxdepth 1 -type d -name "$1-????????????" -exec rm -rf {} +
    if ! python3 -m venv "$tools" || ! "$tools/bin/python" -m pip install -q -r "$2"; then
      rm -rf "$tools"
      die "the packages of $2 could not be installed" "see the message of pip above"
    fi
    touch "$tools/complete"
  fi
  exec 9>&-
}
