#!/usr/bin/env bash
# With FSDP2, grad.norm().item() and "is the gradient finite" are about the shard of this rank, while grad.std().item() is about all.
#
# Guess: parameters and gradients under fully_shard() are DTensors, which behave as the whole tensor: what .item() gives after a
# reduction is the same on each rank.
# Seen with torch 2.11.0 on two CPU ranks (Gloo): after std() it is. After sum(), norm(), max() and mean() the result waits for
# its reduction ("Partial"), and item() takes the part of this rank, as float() and bool() do; one operation
# more, such as norm() * 1 or norm() ** 2, makes it whole. So a logged norm is too small, and with one NaN in the shard of
# rank 1, isfinite().all() is true on rank 0 and false on rank 1: a guard skips the step on one rank alone. Nothing is printed.
# clip_grad_norm_() gives the whole norm.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/norms.py" <<'PYTHON'
import copy
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
whole = torch.nn.Linear(4, 6)
model = copy.deepcopy(whole)
fully_shard(model, mesh=init_device_mesh("cpu", (2,)))
x = torch.randn(3, 4)
for one in (whole, model):
    (one(x) ** 2).sum().backward()
sharded, reference = model.weight.grad, whole.weight.grad
lines = []
for name, reduce in {
    "std()": lambda grad: grad.std(),
    "mean()": lambda grad: grad.mean(),
    "sum()": lambda grad: grad.sum(),
    "norm()": lambda grad: grad.norm(),
    "(norm() * 1)": lambda grad: grad.norm() * 1,
    "count_nonzero()": lambda grad: torch.count_nonzero(grad),
}.items():
    same = abs(reduce(sharded).item() - reduce(reference).item()) < 1e-4
    lines.append(f"rank {rank}: {name}.item() is that of {'all' if same else 'this rank'}\n")
same = abs(torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9).item() - torch.nn.utils.clip_grad_norm_(whole.parameters(), 1e9).item()) < 1e-4
lines.append(f"rank {rank}: clip_grad_norm_().item() is that of {'all' if same else 'this rank'}\n")
if rank == 1:
    sharded.to_local()[0, 0] = float("nan")
lines.append(f"rank {rank}: one NaN on rank 1, isfinite().all() is {bool(sharded.isfinite().all())}\n")
with open(f"{sys.argv[1]}/said.{rank}", "w") as file:
    file.writelines(lines)
dist.destroy_process_group()
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" -m torch.distributed.run --standalone --nproc-per-node 2 "$work/norms.py" "$work" >"$work/printed" 2>&1 ||
  { cat "$work/printed" && exit 1; }
cat "$work/said.0" "$work/said.1" | tee "$work/said"
diff "$work/said" - <<'TEXT'
rank 0: std().item() is that of all
rank 0: mean().item() is that of this rank
rank 0: sum().item() is that of this rank
rank 0: norm().item() is that of this rank
rank 0: (norm() * 1).item() is that of all
rank 0: count_nonzero().item() is that of this rank
rank 0: clip_grad_norm_().item() is that of all
rank 0: one NaN on rank 1, isfinite().all() is True
rank 1: std().item() is that of all
rank 1: mean().item() is that of this rank
rank 1: sum().item() is that of this rank
rank 1: norm().item() is that of this rank
rank 1: (norm() * 1).item() is that of all
rank 1: count_nonzero().item() is that of this rank
rank 1: clip_grad_norm_().item() is that of all
rank 1: one NaN on rank 1, isfinite().all() is False
TEXT
