#!/usr/bin/env bash
# Installs Lockstep, builds examples/own_model against the installed tree, and trains it on 1 and 3
# ranks: own_model_test.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'failed: %s\n' "$*" >&2; exit 1; }

LOCKSTEP_INSTALL_TORCH=OFF cmake --install "$build" --prefix "$work/prefix" >"$work/install.log" || { cat "$work/install.log"; fail install; }
# The text that comes along is found from wherever the installed tree lies.
cp -r "$work/prefix" "$work/moved"
(cd "$work" && moved/bin/lockstep prepare textgen 2>prepare.log >prepared.txt) || { cat "$work/prepare.log"; fail "prepare in a moved tree"; }
grep -q ' training and ' "$work/prepared.txt" || fail "not prepared: $(cat "$work/prepared.txt")"
[ -e "$work/moved/share/lockstep/textgen/README.md" ] || fail "source and licence of the text are not installed"
lines=$(wc -l <"$source/examples/own_model/own.cpp")
[ "$lines" -le 60 ] || fail "own.cpp has $lines lines, more than 60"
cp -r "$source/examples/own_model" "$work/own"
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
cmake -S "$work/own" -B "$work/own/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_CXX_COMPILER="$compiler" >"$work/cmake.log" || { cat "$work/cmake.log"; fail cmake; }
# With the JSON library of this Lockstep, whatever version the system has.
mkdir -p "$work/other/nlohmann"
echo '#error "another version of the JSON library"' | tee "$work/other/nlohmann/json.hpp" >"$work/other/nlohmann/json_fwd.hpp"
CPLUS_INCLUDE_PATH=$work/other cmake --build "$work/own/build" >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail build; }

cd "$work"
tool=$work/prefix/bin/lockstep plugin=$work/own/build/libown.so
for ranks in 1 3; do
  "$tool" train --plugin "$plugin" own --devices "cpu:$ranks" --name "r$ranks" stop.epochs=10 2>"$ranks.log" \
    || { cat "$ranks.log"; fail "train on $ranks ranks"; }
done
"$tool" resume r3 --devices cpu:2 stop.epochs=30 --then evaluate >out.txt 2>resume.log \
  || { cat resume.log; fail resume; }
grep -q accuracy out.txt || fail "no accuracy in: $(cat out.txt)"
python3 - <<'P'
import json
def losses(name):
    return [e["loss"] for e in map(json.loads, open(f"runs/{name}/events.jsonl")) if e["kind"] == "step"][:100]
one, three = losses("r1"), losses("r3")
assert len(one) == 100, len(one)
worst = max(abs(a - b) / a for a, b in zip(one, three))
assert worst < 1e-4, worst
assert one[-1] < one[0]
accuracy = [e["metrics"]["accuracy"] for e in map(json.loads, open("runs/r3/events.jsonl")) if e["kind"] == "eval"]
assert accuracy[-1] > 0.9, accuracy
print(f"largest relative difference of 100 losses on 1 and 3 ranks: {worst:.1e}; accuracy {accuracy[-1]:.3f}")
P
"$tool" config own --plugin "$plugin" >config.txt
grep -q data.points config.txt || fail "its options are not shown"
if "$tool" train --plugin "$plugin" own data.pionts=3 2>err.txt; then fail "an unknown option was taken"; fi
grep -q data.points err.txt || fail "the nearest option is not named"

# A plugin of another version is refused: its own says 9 where this one says 0.
version=$("$tool" --version | sed 's/^lockstep //')
LC_ALL=C sed -i "s/${version//./\\.} torch /9${version:1} torch /" "$plugin"
if "$tool" train --plugin "$plugin" own 2>err.txt; then fail "a plugin of another version was loaded"; fi
grep -q "9${version:1} torch " err.txt || fail "the version is not named: $(cat err.txt)"
