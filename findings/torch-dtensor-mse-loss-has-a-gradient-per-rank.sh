#!/usr/bin/env bash
# The gradient of mse_loss() of DTensors is as many times too large as there are ranks, and the loss is right.
#
# Guess: operations on DTensors give what they give for whole tensors: mse_loss(y, t) and ((y - t) ** 2).mean() have the same value and
# the same gradient, however the batch is sharded.
# Seen with torch 2.11.0 on four CPU ranks (Gloo), a batch sharded by rows, a replicated weight: of mean() and l1_loss() both
# are right. Of mse_loss(), huber_loss(), smooth_l1_loss() and soft_margin_loss() the loss is right and the gradient four times
# too large: each rank averages its own rows, and the backward pass does not divide by the ranks. A training with SGD begins with
# the right loss and runs at four times the learning rate. With 9 rows, which leave the last rank none, the loss is NaN. With
# reduction="sum" both are right. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/losses.py" <<'PYTHON'
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.nn import functional

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
losses = {
    "((y - t) ** 2).mean()": lambda y, t: ((y - t) ** 2).mean(),
    "l1_loss": functional.l1_loss,
    "mse_loss, sum": lambda y, t: functional.mse_loss(y, t, reduction="sum"),
    "mse_loss": functional.mse_loss,
    "huber_loss": functional.huber_loss,
    "smooth_l1_loss": functional.smooth_l1_loss,
    "soft_margin_loss": lambda y, t: functional.soft_margin_loss(y, t.sign()),
}
lines = []
for rows in (8, 9):
    torch.manual_seed(0)
    x, t, w = torch.randn(rows, 3), torch.randn(rows, 2), torch.randn(2, 3)
    for name, loss in losses.items():
        whole = w.clone().requires_grad_()
        expected = loss(functional.linear(x, whole), t)
        expected.backward()
        weight = distribute_tensor(w, mesh, [Replicate()]).requires_grad_()
        y = functional.linear(distribute_tensor(x, mesh, [Shard(0)]), weight)
        got = loss(y, distribute_tensor(t, mesh, [Shard(0)]))
        got.backward()
        times = (weight.grad.full_tensor() / whole.grad).flatten()
        same = f"{times[0].item():.3f}" if torch.allclose(times, times[0], rtol=1e-3) else "not one number"
        lines.append(f"{rows} rows, {name}: loss times {(got.full_tensor() / expected).item():.3f}, gradient times {same}\n")
if dist.get_rank() == 0:
    with open(f"{sys.argv[1]}/said", "w") as file:
        file.writelines(lines)
dist.destroy_process_group()
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" -m torch.distributed.run --standalone --nproc-per-node 4 "$work/losses.py" "$work" >"$work/printed" 2>&1 ||
  { cat "$work/printed" && exit 1; }
if grep -i 'loss\|partial\|uneven' "$work/printed"; then exit 1; fi
cat "$work/said"
diff "$work/said" - <<'TEXT'
8 rows, ((y - t) ** 2).mean(): loss times 1.000, gradient times 1.000
8 rows, l1_loss: loss times 1.000, gradient times 1.000
8 rows, mse_loss, sum: loss times 1.000, gradient times 1.000
8 rows, mse_loss: loss times 1.000, gradient times 4.000
8 rows, huber_loss: loss times 1.000, gradient times 4.000
8 rows, smooth_l1_loss: loss times 1.000, gradient times 4.000
8 rows, soft_margin_loss: loss times 1.000, gradient times 4.000
9 rows, ((y - t) ** 2).mean(): loss times 1.000, gradient times 1.000
9 rows, l1_loss: loss times 1.000, gradient times 1.000
9 rows, mse_loss, sum: loss times 1.000, gradient times 1.000
9 rows, mse_loss: loss times nan, gradient times 3.000
9 rows, huber_loss: loss times nan, gradient times 3.000
9 rows, smooth_l1_loss: loss times nan, gradient times 3.000
9 rows, soft_margin_loss: loss times nan, gradient times 3.000
TEXT
