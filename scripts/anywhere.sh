#!/usr/bin/env bash
# Whether `make run` and `make test` pass where people have their clones: each environment with a clean clone of this
# checkout's HEAD, for root, who can make all of them.
#   anywhere.sh [ENVIRONMENT…]             `make run` and `make test`: 20 minutes each on two cores
#   anywhere.sh --run [ENVIRONMENT…]       `make run` alone
#   anywhere.sh --quick BUILD              a short training and the tests that look at such things, with this build: a minute
#                                          each; without blanks, for which a build is made anew
# Environments: closed (a folder of mode 0700), user (one without any right), blanks (in the path), umask (077), home (one
# that is read-only; the cache is elsewhere), shm (64 MiB of /dev/shm), contained (neither control groups nor namespaces).
# Closes with a line for each; what could not be made here is skipped, by name and reason.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"

environments=(closed user blanks umask home shm contained)
nobody=65534
# Those that look at users, permissions, paths, memory and namespaces.
quick_tests='^(process-launch|process-install)/|^process-doctor/DoctorFinds\.(OfAP|NoMore)|^process-train/DiskFull'
quick_tests+='|^process-batch/(BatchCgroups|BatchThatHides|SmallDisk|BatchBadInput)\.|^unit-(base|run|launch|jobs|devices)/'

# The tests of an environment, in the folder of the clone: tests, or a training and some of them.
tasks() {
  local environment=$1 build=$2
  cd "$checkout_there"
  case $mode in
    run) make run ;;
    all) make run && make test ;;
    quick)
      (cd "$scratch/work" && "$build/lockstep" train textgen preset=small stop.steps=4 --devices cpu:2 --name "$environment" \
        --then evaluate >"$scratch/work/training.log" 2>&1 || { cat "$scratch/work/training.log" && exit 1; }) &&
        scripts/test.sh "$build" -R "$quick_tests$([ "$environment" != contained ] || echo '|^process-hosts/')"
      ;;
  esac
}

# open_way PATH…: with user 65534's right to enter all folders above these, whatever they hold besides.
open_way() {
  local path part way number=0
  for path; do
    mkdir -p "$scratch/way-$number"
    mount --bind "$path" "$scratch/way-$number"
    number=$((number + 1))
  done
  number=0
  for path; do
    part=''
    IFS=/ read -ra way <<<"${path%/*}"
    for name in "${way[@]:1}"; do
      part+=/$name
      mkdir -p "$part"
      if ! "${as[@]}" test -x "$part"; then mount -t tmpfs -o mode=755 none "$part"; fi
    done
    mkdir -p "$path"
    mount --bind "$scratch/way-$number" "$path"
    number=$((number + 1))
  done
}

# Makes the environment, in a mount namespace of its own.
prepare() {
  if [ "$mode" = quick ] && [[ $1 == closed || $1 == user ]]; then
    cp -a "$checkout_there" "$scratch/copy"
    mount --bind "$scratch/copy" "$checkout_there"
  fi
  case $1 in
    closed) chmod 700 "$checkout_there" ;;
    umask) umask 077 ;;
    home)
      mkdir -p "$scratch/home"
      mount --bind "$scratch/home" "$scratch/home"
      mount -o remount,ro,bind "$scratch/home"
      export HOME=$scratch/home LOCKSTEP_CACHE=$cache
      unset XDG_CACHE_HOME XDG_STATE_HOME
      ;;
    shm) mount -t tmpfs -o size=64m none /dev/shm ;;
    contained)
      if [ -d /sys/fs/cgroup ]; then mount -t tmpfs -o ro none /sys/fs/cgroup; fi
      as=(python3 "$here/lib/contained.py")
      ;;
    user)
      mkdir -p "$scratch/home"
      export HOME=$scratch/home LOCKSTEP_CACHE=$cache
      unset XDG_CACHE_HOME XDG_STATE_HOME
      as=(setpriv --reuid "$nobody" --regid "$nobody" --clear-groups --inh-caps=-all)
      chown -R "$nobody:$nobody" "$checkout_there" "$scratch/home" "$scratch/work"
      # A Python in a home folder, and the one that starts it.
      pythons=()
      for python in "$(dirname "$(dirname "$(command -v python3)")")" "$(python3 -c 'import sys; print(sys.base_prefix)')"; do
        if ! "${as[@]}" test -x "$python"; then pythons+=("$python"); fi
      done
      open_way "$checkout_there" "$cache" "${pythons[@]}"
      ;;
  esac
}

# Runs one environment; called anew by unshare. CHECKOUT_THERE is the clone, or with --quick the checkout itself.
if [ "${1:-}" = --inside ]; then
  environment=$2 mode=$3 checkout_there=$4 build=$5 scratch=$6 cache=$7 as=()
  prepare "$environment"
  export -f tasks
  export quick_tests mode checkout_there scratch
  exec "${as[@]}" bash -euc 'tasks "$@"' bash "$environment" "$build"
fi

mode=all build=
case ${1:-} in
  --run) mode=run && shift ;;
  --quick)
    [ $# -eq 2 ] || die "anywhere.sh --quick takes the folder of a build" "scripts/anywhere.sh --quick build"
    mode=quick build=$(cd "$2" && pwd)
    environments=(closed user umask home shm contained)
    shift 2
    ;;
esac
wanted=("$@")
if ((${#wanted[@]} == 0)); then wanted=("${environments[@]}"); fi
for environment in "${wanted[@]}"; do
  [[ " ${environments[*]} " == *" $environment "* ]] || die "there is no environment '$environment'" "one of: ${environments[*]}"
done
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
  echo "anywhere: skipped: it takes root and mount namespaces to make these environments"
  exit 0
fi

cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
chmod 755 "$top"
lines=() status=0
for environment in "${wanted[@]}"; do
  scratch=$top/$environment
  mkdir -p "$scratch/work"
  chmod 755 "$scratch" "$scratch/work"
  clone=$checkout
  if [ "$mode" != quick ]; then
    clone=$scratch/clone
    if [ "$environment" = blanks ]; then clone="$scratch/a clone with blanks"; fi
    git clone -q "$checkout" "$clone"
  fi
  echo "anywhere: $environment"
  begin=$(date +%s)
  outcome=passed
  unshare -m --propagation private "$0" --inside "$environment" "$mode" "$clone" "${build:-$clone/build}" "$scratch" "$cache" ||
    { outcome=failed && status=1; }
  lines+=("anywhere: $environment $outcome in $(($(date +%s) - begin)) s")
done
printf '%s\n' "${lines[@]}"
exit "$status"
