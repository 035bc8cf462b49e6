#!/usr/bin/env bash
# Builds the fuzzers of tests/fuzz with clang (libFuzzer, ASan, UBSan) and runs each from its corpus.
#   fuzz.sh [RUNS] [NAME…]      RUNS is 10,000,000; no name: all of them
#   fuzz.sh --ready             whether this machine has what it takes; installs nothing
# An input that is a finding is kept in build-fuzz/findings. From 1,000,000 on each fuzzer is shared out among
# all cores and recorded in bench/results/fuzz.toml. Environment: FUZZ_JOBS, how many processes run at once
# (one a core); FUZZ_SEED, of the first of them (the clock's); FUZZ_BUILD, a folder with built fuzzers.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
# shellcheck source=scripts/lib/common.sh
. "$here/lib/common.sh"
# shellcheck source=scripts/lib/packages.sh
. "$here/lib/packages.sh"

# Whether the compiler is there, with the libraries of libFuzzer and the sanitizers.
ready() {
  local program=$scratch/ready
  command -v clang++ >/dev/null &&
    echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$program" 2>/dev/null
}

# Debian and Ubuntu have them in packages; that of the libraries is named after clang's version.
install_clang() {
  missing=(clang)
  if ! command -v clang++ >/dev/null; then install_packages; fi
  missing=("libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev")
  if ! ready; then install_packages; fi
  ready || die "clang++ cannot build a fuzzer" "see what clang++ -fsanitize=fuzzer,address,undefined says"
}

# run_one NAME PIECE: the executions of one process, from a copy of the corpus, its output in a log.
run_one() {
  local corpus=$scratch/$1-$2 words=()
  cp -r "$checkout/tests/fuzz/corpus/$1" "$corpus"
  if [ -e "$checkout/tests/fuzz/$1.dict" ]; then words+=(-dict="$checkout/tests/fuzz/$1.dict"); fi
  # Entropic scheduling took half of the time and found no more; so did inputs that grow faster than -len_control lets
  # them: the same edges after five times the time.
  ASAN_OPTIONS=quarantine_size_mb=8:malloc_context_size=0 TMPDIR=$scratch \
    "$build/fuzz-$1" "$corpus" -runs=$(((runs + pieces - 1) / pieces)) -seed=$((seed + $2)) -max_len=4096 -len_control=1000 \
    -entropic=0 -print_funcs=0 -timeout=5 -report_slow_units=1 -rss_limit_mb=1024 -malloc_limit_mb=512 \
    -artifact_prefix="$findings/$1-" "${words[@]}" -print_final_stats=1 >"$logs/$1.$2.log" 2>&1 || true
  rm -rf "$corpus"
  if ((pieces == 1)); then summarize "$1"; fi
}
summarize() {
  python3 "$here/lib/fuzz_summary.py" --runs "$runs" --seed "$seed" --commit "$commit" --record "$record" \
    --program "$build/fuzz-$1" "$1" "$logs/$1".[0-9]*.log
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ "${1:-}" = --ready ]; then
  ready
  exit
fi
runs=${1:-10000000}
shift || true
[[ $runs =~ ^[0-9]+$ ]] || die "RUNS must be a whole number, but is '$runs'" "scripts/fuzz.sh 20000 config"

build=$checkout/build-fuzz findings=$checkout/build-fuzz/findings logs=$checkout/build-fuzz/logs
mkdir -p "$build" "$findings" "$logs"
rm -f "$logs"/*.log
if [ -n "${FUZZ_BUILD:-}" ]; then
  build=$(cd "$FUZZ_BUILD" && pwd)
else
  ready || install_clang
  (cd "$checkout" && cmake --preset fuzz) >"$build/configure.log" 2>&1 ||
    { cat "$build/configure.log" >&2 && die "the fuzzers could not be configured"; }
  ninja -C "$build" -j "$(build_jobs)" >"$build/build.log" 2>&1 ||
    { tail -n 40 "$build/build.log" >&2 && die "the fuzzers could not be built"; }
fi

names=("$@")
if ((${#names[@]} == 0)); then
  for source in "$checkout"/tests/fuzz/*_fuzz.cpp; do names+=("$(basename "$source" _fuzz.cpp)"); done
fi
for name in "${names[@]}"; do [ -x "$build/fuzz-$name" ] || die "there is no fuzzer '$name'" "see tests/fuzz"; done
commit=$(measured_commit "$checkout")
jobs=${FUZZ_JOBS:-$(usable_cores)} seed=${FUZZ_SEED:-$(date +%s)} pieces=1 record=
if ((runs >= 1000000)); then pieces=$jobs record=$checkout/bench/results/fuzz.toml; fi
export checkout here scratch build findings logs runs record commit seed pieces
export -f run_one summarize

# A short run is not worth sharing out: several fuzzers at once. Else one after the other on all cores.
if ((pieces == 1)); then
  printf '%s\n' "${names[@]}" | xargs -P "$jobs" -I NAME bash -c 'run_one NAME 0'
  exit
fi
status=0
for name in "${names[@]}"; do
  seq 0 $((pieces - 1)) | xargs -P "$jobs" -I PIECE bash -c "run_one $name PIECE"
  summarize "$name" || status=1
done
exit "$status"
