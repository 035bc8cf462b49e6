#!/usr/bin/env bash
# An operator of torch's stable ABI whose function returns int gives 4294967294 for -2, and one that returns float gives 5e-315.
#
# Guess: a function that returns int is refused, as TORCH_LIBRARY does while it compiles ("Please use int64_t instead"), or its value is
# converted as C++ does.
# Seen with torch 2.11.0 and g++ 12.2: STABLE_TORCH_LIBRARY with TORCH_BOX compiles both with -Wall -Wextra and without
# a word. Values go as 64 bits: an int fills the lower half and leaves the upper one 0, a float is read as the
# lower half of a double. Numbers from 0 up are right, so tests that have no negative one pass. Parameters likewise: a
# float is 0.0 for 1.5, an int is 5 for 2**32 + 5. int64_t and double are right. The schema (int, float) is the same.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
torch=$("$work/venv/bin/python" -c 'import torch; print(torch.__path__[0])')
cat >"$work/operators.cpp" <<'CPP'
#include <torch/csrc/stable/library.h>
int64_t minus_int64(int64_t a, int64_t b) { return a - b; }
int minus_int(int64_t a, int64_t b) { return static_cast<int>(a - b); }
double half_double(double a) { return a / 2; }
float half_float(double a) { return static_cast<float>(a / 2); }
double same_float(float a) { return a; }
int64_t same_int(int a) { return a; }
STABLE_TORCH_LIBRARY(small, m) {
  m.def("minus_int64(int a, int b) -> int");
  m.def("minus_int(int a, int b) -> int");
  m.def("half_double(float a) -> float");
  m.def("half_float(float a) -> float");
  m.def("same_float(float a) -> float");
  m.def("same_int(int a) -> int");
}
STABLE_TORCH_LIBRARY_IMPL(small, CompositeExplicitAutograd, m) {
  m.impl("minus_int64", TORCH_BOX(&minus_int64));
  m.impl("minus_int", TORCH_BOX(&minus_int));
  m.impl("half_double", TORCH_BOX(&half_double));
  m.impl("half_float", TORCH_BOX(&half_float));
  m.impl("same_float", TORCH_BOX(&same_float));
  m.impl("same_int", TORCH_BOX(&same_int));
}
CPP
g++ -std=c++20 -Wall -Wextra -fPIC -shared -isystem "$torch/include" "$work/operators.cpp" -o "$work/operators.so" \
  -L"$torch/lib" -ltorch_cpu -lc10 2>"$work/warnings"
test ! -s "$work/warnings"
printf '#include <torch/library.h>\n#include <ATen/core/Tensor.h>\nint minus(int64_t a, int64_t b) { return static_cast<int>(a - b); }
TORCH_LIBRARY(small, m) { m.def("minus(int a, int b) -> int", &minus); }\n' >"$work/usual.cpp"
if g++ -std=c++20 -fsyntax-only -isystem "$torch/include" "$work/usual.cpp" 2>"$work/refused"; then exit 1; fi
grep -o -m1 'Please use int64_t instead' "$work/refused" | tee "$work/said"
"$work/venv/bin/python" - "$work/operators.so" <<'PYTHON' | tee -a "$work/said"
import sys

import torch

torch.ops.load_library(sys.argv[1])
small = torch.ops.small
print("3 - 5:", small.minus_int64(3, 5), small.minus_int(3, 5))
print("5 - 3:", small.minus_int64(5, 3), small.minus_int(5, 3))
print(f"3.0 / 2: {small.half_double(3.0)} {small.half_float(3.0):.3g}")
print("parameters:", small.same_float(1.5), small.same_int(2**32 + 5), small.same_int(5))
PYTHON
diff "$work/said" - <<'TEXT'
Please use int64_t instead
3 - 5: -2 4294967294
5 - 3: 2 2
3.0 / 2: 1.5 5.28e-315
parameters: 0.0 5 5
TEXT
