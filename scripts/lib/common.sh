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

# record_head CHECKOUT COMMAND [GPUS]: the first lines of a record of a measurement. CONTEXT is what disturbed it.
record_head() {
  printf 'command = "%s"\ncommit = "%s"\n' "$2" "$(measured_commit "$1")"
  printf 'machine = "%s cores, %s%s"\ndate = "%s"\n' "$(usable_cores)" \
    "$(awk -F ': ' '/model name/ {print $2; exit}' /proc/cpuinfo)" "${3:+, $3}" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  [ -z "${CONTEXT:-}" ] || printf 'context = "%s"\n' "$CONTEXT"
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

# Tools that the setup unpacked because this user may not install any.
if [ -d "${BASH_SOURCE[0]%/*}/../../.lockstep/bin" ]; then
  PATH=$(cd "${BASH_SOURCE[0]%/*}/../../.lockstep/bin" && pwd):$PATH
fi

# Cores that this process may use: its affinity, and the quota of its container.
usable_cores() {
  local cores quota period root=${LOCKSTEP_SETUP_ROOT:-}/sys/fs/cgroup
  cores=$(nproc)
  if [ -r "$root/cpu.max" ]; then
    read -r quota period <"$root/cpu.max"
  elif [ -r "$root/cpu/cpu.cfs_quota_us" ]; then
    quota=$(cat "$root/cpu/cpu.cfs_quota_us") period=$(cat "$root/cpu/cpu.cfs_period_us")
    if ((quota < 0)); then quota=max; fi
  else
    quota=max
  fi
  if [ "$quota" != max ] && ((quota / period < cores)); then cores=$((quota / period)); fi
  echo $((cores > 0 ? cores : 1))
}

# Bytes that this process may still take: of the machine's memory, and of its container's limit, in which the files
# that the kernel keeps in memory do not count.
usable_memory() {
  local root=${LOCKSTEP_SETUP_ROOT:-} free limit used cached
  free=$(awk '/^MemAvailable/ {printf "%.0f\n", $2 * 1024}' "$root/proc/meminfo")
  limit=$(cat "$root/sys/fs/cgroup/memory.max" 2>/dev/null || cat "$root/sys/fs/cgroup/memory/memory.limit_in_bytes" 2>/dev/null || echo max)
  if [ "$limit" != max ] && ((${#limit} < 18)); then
    used=$(cat "$root/sys/fs/cgroup/memory.current" 2>/dev/null || cat "$root/sys/fs/cgroup/memory/memory.usage_in_bytes" 2>/dev/null || echo 0)
    cached=$(cat "$root/sys/fs/cgroup/memory.stat" "$root/sys/fs/cgroup/memory/memory.stat" 2>/dev/null | awk '/^(total_)?inactive_file/ {bytes = $2} END {print bytes + 0}')
    if ((limit - used + cached < free)); then free=$((limit - used + cached)); fi
  fi
  echo $((free > 0 ? free : 0))
}

# Build jobs: one for each core, and 1.5 GB of free memory for each.
build_jobs() {
  local cores memory
  cores=$(usable_cores)
  memory=$(($(usable_memory) / 1500000000))
  ((memory >= 1)) || memory=1
  echo $((cores < memory ? cores : memory))
}

# test_tenth CHECKOUT: which tenth of what takes long runs at its commit, 0 to 9; all of it where LOCKSTEP_TEST_TENTH
# says so, or where the history is not whole.
test_tenth() {
  if [ -n "${LOCKSTEP_TEST_TENTH:-}" ]; then
    echo "$LOCKSTEP_TEST_TENTH"
  elif [ "$(git -C "$1" rev-parse --is-shallow-repository 2>/dev/null)" = false ]; then
    echo $(($(git -C "$1" rev-list --count HEAD) % 10))
  else
    echo all
  fi
}
