#!/usr/bin/env bash
# Saving a checkpoint before the first step changes the training that follows.
#
# Guess: get_optimizer_state_dict() of torch.distributed.checkpoint reads; a training that calls it takes the same course as one
# that does not.
# Seen with torch 2.11.0: where the optimizer has no state yet, it makes one by a step with a learning rate of 0 and gradients of 0,
# and leaves it there. Adam and AdamW then count their first real step as the second: bias correction makes this update
# 0.74 of what it is, and all later losses are others. SGD with dampening moves by half (dampening=0.5). Without dampening
# SGD stays. Also where nothing is distributed, and where a script saves "step 0". Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/train.py" <<'PYTHON'
import torch
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict


def train(make, look):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = make(model.parameters())
    if look:
        get_optimizer_state_dict(model, optimizer)
    x = torch.randn(8, 4)
    before = model.weight.detach().clone()
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if len(losses) == 1:
            first = (model.weight.detach() - before).abs().mean().item()
    return first, losses[-1]


for name, make in {
    "Adam": lambda weights: torch.optim.Adam(weights, lr=0.1),
    "AdamW": lambda weights: torch.optim.AdamW(weights, lr=0.1, weight_decay=0),
    "SGD": lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9),
    "SGD, dampening": lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9, dampening=0.5),
}.items():
    plain, looked = train(make, False), train(make, True)
    print(f"{name}: first update {looked[0] / plain[0]:.2f} of what it is without the call, last loss {'same' if looked[1] == plain[1] else 'other'}")
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" "$work/train.py" 2>"$work/err" | tee "$work/said"
if grep -i 'warn' "$work/err" | grep -i 'state\|step'; then exit 1; fi
diff "$work/said" - <<'TEXT'
Adam: first update 0.74 of what it is without the call, last loss other
AdamW: first update 0.74 of what it is without the call, last loss other
SGD: first update 1.00 of what it is without the call, last loss same
SGD, dampening: first update 0.50 of what it is without the call, last loss other
TEXT
