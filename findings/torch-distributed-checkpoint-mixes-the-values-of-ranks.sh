#!/usr/bin/env bash
# torch.distributed.checkpoint takes some of the plain values from rank 0 and others from rank 1.
#
# Guess: where each rank has a value of its own under the same name (running statistics of batch norm under
# DDP, a position in the data, a state of random numbers), the checkpoint holds those of rank 0, as with torch.save() on rank 0,
# or save() complains that they differ.
# Seen with torch 2.11.0 on two CPU ranks (Gloo): duplicates are shared out among the ranks to balance what each one writes.
# A layer's running mean is that of one rank and its variance that of the other; which it is follows from names and sizes.
# Each rank loads the mixture, a statistic of two batches that never met. Nothing is printed.
# DefaultSavePlanner(dedup_save_to_lowest_rank=True) keeps to rank 0.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/save.py" <<'PYTHON'
import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
layers = [layer for _ in range(2) for layer in (torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))]
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers))
model(torch.randn(16, 4, generator=torch.Generator().manual_seed(rank))).sum().backward()
state = {name: value.detach().clone() for name, value in model.module.state_dict().items()}
lines = []
for name, planner in {"default": None, "lowest rank": checkpoint.DefaultSavePlanner(dedup_save_to_lowest_rank=True)}.items():
    path = f"{sys.argv[1]}/{name}"
    checkpoint.save({"model": state}, checkpoint_id=path, planner=planner)
    loaded = {"model": {name: torch.zeros_like(value) for name, value in state.items()}}
    checkpoint.load(loaded, checkpoint_id=path)
    sources = {}
    for key in (key for key in state if "running_" in key):
        both = [torch.zeros(4) for _ in range(2)]
        dist.all_gather(both, state[key])
        assert not torch.equal(*both)
        sources[key] = [torch.equal(loaded["model"][key], value) for value in both].index(True)
    lines.append(f"{name}: loaded from rank {sources}")
with open(f"{sys.argv[1]}/said.{rank}", "w") as file:
    file.write("".join(f"{line}\n" for line in lines))
dist.destroy_process_group()
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" -m torch.distributed.run --standalone --nproc-per-node 2 "$work/save.py" "$work" >"$work/printed" 2>&1 ||
  { cat "$work/printed" && exit 1; }
cat "$work/said.0"
cmp "$work/said.0" "$work/said.1"
diff "$work/said.0" - <<'TEXT'
default: loaded from rank {'1.running_mean': 1, '1.running_var': 0, '3.running_mean': 0, '3.running_var': 1}
lowest rank: loaded from rank {'1.running_mean': 0, '1.running_var': 0, '3.running_mean': 0, '3.running_var': 0}
TEXT
