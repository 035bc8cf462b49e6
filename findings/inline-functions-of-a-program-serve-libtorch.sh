#!/usr/bin/env bash
# A program's own copies of inline functions serve LibTorch, too.
#
# Guess: how a program is compiled changes the speed of its own code alone; LibTorch comes compiled.
# Seen with torch 2.11.0 (the wheel of PyPI) and g++ 12.2: libtorch_cpu.so looks up functions of std::string, std::vector
# and the like by name, as they are weak symbols, and the program comes first in the loader's order. The linker exports
# each function of a program that one of its libraries asks for, so LibTorch runs the unoptimized copies of a program compiled with -O0:
# in LibTorch's start-up, where thousands of operators are registered, and in each operator after it. A test program
# takes longer to start for it, and nothing says so. With -fvisibility-inlines-hidden the program keeps them to itself, but
# for a few templates that are not inline: 28 functions of this small program without the flag, 5 with it.
# Fails if the program serves LibTorch no more without the flag, or as much with it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install -q --no-deps --target "$work/site" torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85
torch=$work/site/torch
cat >"$work/program.cpp" <<'CPP'
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <cstdio>
#include <string>
int main() {
  std::string text = "the sum is ";
  text += std::to_string(at::ones({3}).sum().item<float>());
  std::puts(text.c_str());
}
CPP
# served FLAG…: how many functions LibTorch's main library finds in the program.
served() {
  g++ -std=c++20 -O0 -fPIC "$@" -isystem "$torch/include" "$work/program.cpp" -o "$work/program" \
    -L"$torch/lib" -ltorch_cpu -lc10 -Wl,-rpath,"$torch/lib" -Wl,-rpath-link,"$work/site/nvidia/cu13/lib"
  LD_BIND_NOW=1 LD_DEBUG=bindings LD_DEBUG_OUTPUT=$work/bindings "$work/program" >"$work/said"
  grep -q 'the sum is 3' "$work/said"
  grep -h "binding file .*/libtorch_cpu.so .*to $work/program .*normal symbol" "$work"/bindings.* | sed 's/.*symbol//' | sort -u >"$work/names"
  rm -f "$work"/bindings.*
  wc -l <"$work/names"
}
without=$(served)
examples=$(tr -d "\`' " <"$work/names" | sed 's/\[.*//' | c++filt | grep basic_string | head -3)
with=$(served -fvisibility-inlines-hidden)
echo "functions that libtorch_cpu.so takes from a program compiled with -O0: $without; with -fvisibility-inlines-hidden: $with"
echo "among them:"
echo "$examples"
((without >= 20 && with < without / 2))
