#!/usr/bin/env bash
# The norm(dim=0) of a sharded DTensor is right, and norm(dim=0).sum() is wrong.
#
# Guess: what follows a reduction over the sharded dimension gets its whole result; the sum of column norms (a group lasso, the L2,1
# norm) is that of the whole matrix.
# Seen with torch 2.11.0 on two CPU ranks (Gloo), a matrix of 4 rows sharded by rows: norm(dim=0), its max(), and the sum after a
# square or after * 1 are right. For sum() itself each rank adds up the norms of its own rows, and the two sums are put together
# as norms are, by the root of the sum of their squares: 7.060 where it is 7.436. The gradient is right, so a training takes the
# course that it should and logs another loss. Norms with p=1 are right, with p=3 wrong. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/norms.py" <<'PYTHON'
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
torch.manual_seed(1)
matrix = torch.randn(4, 4)
penalties = {
    "norm(dim=0), added up last": lambda m: m.norm(dim=0),
    "norm(dim=0).max()": lambda m: m.norm(dim=0).max(),
    "(norm(dim=0) ** 2).sum()": lambda m: (m.norm(dim=0) ** 2).sum(),
    "(norm(dim=0) * 1).sum()": lambda m: (m.norm(dim=0) * 1).sum(),
    "norm(1, dim=0).sum()": lambda m: m.norm(1, dim=0).sum(),
    "norm(dim=0).sum()": lambda m: m.norm(dim=0).sum(),
    "norm(3, dim=0).sum()": lambda m: m.norm(3, dim=0).sum(),
}
lines = []
for name, penalty in penalties.items():
    whole = matrix.clone().requires_grad_()
    sharded = distribute_tensor(matrix, mesh, [Shard(0)]).requires_grad_()
    expected, got = penalty(whole).sum(), penalty(sharded).full_tensor().sum()
    expected.backward()
    got.backward()
    lines.append(f"{name}: {got.item():.3f} of {expected.item():.3f}, gradient as expected: {torch.allclose(sharded.grad.full_tensor(), whole.grad, atol=1e-6)}\n")
if dist.get_rank() == 0:
    with open(f"{sys.argv[1]}/said", "w") as file:
        file.writelines(lines)
dist.destroy_process_group()
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" -m torch.distributed.run --standalone --nproc-per-node 2 "$work/norms.py" "$work" >"$work/printed" 2>&1 ||
  { cat "$work/printed" && exit 1; }
if grep -i 'norm\|partial' "$work/printed"; then exit 1; fi
cat "$work/said"
diff "$work/said" - <<'TEXT'
norm(dim=0), added up last: 7.436 of 7.436, gradient as expected: True
norm(dim=0).max(): 2.337 of 2.337, gradient as expected: True
(norm(dim=0) ** 2).sum(): 14.272 of 14.272, gradient as expected: True
(norm(dim=0) * 1).sum(): 7.436 of 7.436, gradient as expected: True
norm(1, dim=0).sum(): 12.488 of 12.488, gradient as expected: True
norm(dim=0).sum(): 7.060 of 7.436, gradient as expected: True
norm(3, dim=0).sum(): 5.993 of 6.571, gradient as expected: True
TEXT
