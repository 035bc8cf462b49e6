# shellcheck shell=bash disable=SC2034,SC2154
# What every script needs: messages, version arithmetic and the number of build jobs.

say() { printf 'setup: %s\n' "$*" >&2; }

# die WHAT [HINT]: the form that the tool's errors have; exit code 2.
die() {
  printf 'error: %s\n' "$1" >&2
  if [ -n "${2:-}" ]; then printf '\nhint: %s\n' "$2" >&2; fi
  exit 2
}

# measured_commit CHECKOUT: what a record of a measurement names. LOCKSTEP_COMMIT where the checkout has
# no git history.
measured_commit() {
  local commit=${LOCKSTEP_COMMIT:-$(git -C "$1" rev-parse HEAD 2>/dev/null || echo unknown)}
  if [ -z "${LOCKSTEP_COMMIT:-}" ] && [ -n "$(git -C "$1" status --porcelain --untracked-files=no 2>/dev/null)" ]; then commit="$commit with changes"; fi
  printf '%s\n' "$commit"
}

# at_least A B: version A (1.2.3, any tail) is B (major or major.minor) or newer.
at_least() {
  local a_major a_minor b_major b_minor
  IFS=. read -r a_major a_minor _ <<<"$1."
  IFS=. read -r b_major b_minor _ <<<"$2."
  a_major=${a_major//[!0-9]/} a_minor=${a_minor%%[!0-9]*}
  ((10#${a_major:-0} > 10#${b_major:-0})) ||
    ((10#${a_major:-0} == 10#${b_major:-0} && 10#${a_minor:-0} >= 10#${b_minor:-0}))
}

# Cores that this process may use: its affinity, and the quota of its container.
usable_cores() {
  local cores quota period
  cores=$(nproc)
  if [ -r /sys/fs/cgroup/cpu.max ]; then
    read -r quota period </sys/fs/cgroup/cpu.max
    if [ "$quota" != max ] && ((quota / period < cores)); then cores=$((quota / period)); fi
  fi
  echo $((cores > 0 ? cores : 1))
}

# Build jobs: one a core, and 1.5 GB of free memory for each.
build_jobs() {
  local cores memory
  cores=$(usable_cores)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  ((memory >= 1)) || memory=1
  echo $((cores < memory ? cores : memory))
}
