# shellcheck shell=bash
# How fast the machine is, for limits and records of time.

# compile_on_all_cores FOLDER CORES: one source with LibTorch's headers on each core at once; its files go into FOLDER.
compile_on_all_cores() {
  local core
  printf '#include <ATen/core/Tensor.h>\n#include <ATen/ops/add.h>\n#include <ATen/ops/mul.h>\n' >"$1/source.cpp"
  for ((core = 0; core < $2; core++)); do
    "$(cat .lockstep/compiler)" -std=c++20 -O2 -isystem "$(cat .lockstep/torch)/include" -c "$1/source.cpp" -o "$1/$core.o" &
  done
  wait
}
