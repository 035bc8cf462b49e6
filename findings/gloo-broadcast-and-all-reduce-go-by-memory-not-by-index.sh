#!/usr/bin/env bash
# Where strides differ between ranks, broadcast() and all_reduce() of torch.distributed put values in other places.
#
# Guess: a collective goes by index: after broadcast(), rank 1 has the tensor of rank 0 whatever its memory format is, as copy_()
# does, or it raises. all_gather() shows that strides do not matter.
# Seen with torch 2.11.0, Gloo, two CPU ranks: convolution weights that rank 0 holds as channels_last and rank 1 as contiguous (only rank 0
# has read the checkpoint and converted the model, say) arrive on rank 1 in another order. all_reduce() adds up elements that do
# not belong together, on both ranks. Shapes agree, so nothing is checked, and nothing is printed. all_gather() of the same
# tensors is right. DistributedDataParallel checks the strides of parameters; one's own loop over parameters does not.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/send.py" <<'PYTHON'
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
weight = torch.randn(4, 3, 3, 3)
lines = []
for format0 in (torch.contiguous_format, torch.channels_last):
    formats = [format0, torch.contiguous_format]
    own = weight.contiguous(memory_format=formats[rank])
    gathered = [torch.zeros_like(weight) for _ in range(2)]
    dist.all_gather(gathered, own)
    total = own.clone(memory_format=torch.preserve_format)
    dist.all_reduce(total)
    sent = (own if rank == 0 else torch.zeros_like(own)).clone(memory_format=torch.preserve_format)
    dist.broadcast(sent, 0)
    lines.append(f"rank 0 {'as rank 1' if format0 == formats[1] else 'channels_last'}, on rank {rank}: "
                 f"all_gather {all(torch.equal(part, weight) for part in gathered)}, all_reduce {torch.equal(total, weight * 2)}, "
                 f"broadcast {torch.equal(sent, weight)}\n")
with open(f"{sys.argv[1]}/said.{rank}", "w") as file:
    file.writelines(lines)
dist.destroy_process_group()
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" -m torch.distributed.run --standalone --nproc-per-node 2 "$work/send.py" "$work" >"$work/printed" 2>&1 ||
  { cat "$work/printed" && exit 1; }
cat "$work/said.0" "$work/said.1" | tee "$work/said"
diff "$work/said" - <<'TEXT'
rank 0 as rank 1, on rank 0: all_gather True, all_reduce True, broadcast True
rank 0 channels_last, on rank 0: all_gather True, all_reduce False, broadcast True
rank 0 as rank 1, on rank 1: all_gather True, all_reduce True, broadcast True
rank 0 channels_last, on rank 1: all_gather True, all_reduce False, broadcast False
TEXT
