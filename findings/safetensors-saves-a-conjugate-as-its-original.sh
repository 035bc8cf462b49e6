#!/usr/bin/env bash
# safetensors saves x.conj() as x, and says nothing.
#
# Guess: safetensors.torch.save_file() writes the values of a contiguous tensor, as torch.save() does; x.conj() says that it is
# contiguous, and equals what it should be.
# Seen with safetensors 0.8.0 and torch 2.11.0: PyTorch's conj() sets a bit and copies nothing; safetensors takes the memory below it.
# The imaginary parts in the file have the other sign. resolve_conj() before saving is right. x.mH (the conjugate transpose) of a vector
# or of a row is contiguous, too, and is saved wrongly; that of a matrix is refused, since it is not contiguous.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q safetensors==0.8.0 torch==2.11.0 numpy==2.3.5
cat >"$work/save.py" <<'PYTHON'
import sys

import torch
from safetensors.torch import load_file, save_file

x = torch.tensor([[1 + 2j, 3 - 4j]])
for name, tensor in {"x": x, "x.conj()": x.conj(), "x.mH": x.mH, "x.conj().resolve_conj()": x.conj().resolve_conj()}.items():
    save_file({"x": tensor}, sys.argv[1] + "/x.safetensors")
    torch.save(tensor, sys.argv[1] + "/x.pt")
    read = load_file(sys.argv[1] + "/x.safetensors")["x"]
    print(f"{name}: contiguous {tensor.is_contiguous()}, the same after torch.save {torch.equal(torch.load(sys.argv[1] + '/x.pt'), tensor)}, "
          f"after safetensors {torch.equal(read, tensor)}, conjugated back {torch.equal(read, tensor.conj())}")
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" "$work/save.py" "$work" 2>"$work/err" | tee "$work/said"
if grep -i 'conj' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
x: contiguous True, the same after torch.save True, after safetensors True, conjugated back False
x.conj(): contiguous True, the same after torch.save True, after safetensors False, conjugated back True
x.mH: contiguous True, the same after torch.save True, after safetensors False, conjugated back True
x.conj().resolve_conj(): contiguous True, the same after torch.save True, after safetensors True, conjugated back False
TEXT
