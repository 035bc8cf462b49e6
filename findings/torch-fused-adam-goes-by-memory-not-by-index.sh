#!/usr/bin/env bash
# Adam(fused=True) on the CPU resumes wrongly where a model has become channels_last since its checkpoint.
#
# Guess: fused=True differs from fused=False in rounding alone; a checkpoint of a convolution model can be resumed after
# model.to(memory_format=torch.channels_last), which changes no value.
# Seen with torch 2.11.0: load_state_dict() leaves the moments contiguous, as they were saved; weights and gradients are
# channels_last. The loops of foreach=True and of foreach=False go by index, and the training goes on as before. The fused one
# goes through memory, and each weight gets the moments of another: the losses after the resume are worse. Nothing is
# printed. The same holds for AdamW, and for SGD with momentum.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/resume.py" <<'PYTHON'
import copy

import torch


def net(memory):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Conv2d(4, 2, 3)).to(memory_format=memory)


def train(model, optimizer, steps, seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        x = torch.randn(2, 3, 8, 8, generator=generator)
        optimizer.zero_grad()
        ((model(x) - 1) ** 2).mean().backward()
        optimizer.step()


def weights(make, way, memory):
    model = net(torch.contiguous_format)
    optimizer = make(model.parameters(), **way)
    train(model, optimizer, 5, 1)
    saved = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    model = net(memory)
    model.load_state_dict(saved[0])
    optimizer = make(model.parameters(), **way)
    optimizer.load_state_dict(saved[1])
    train(model, optimizer, 5, 2)
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


for name, make in {
    "Adam": lambda weights, **way: torch.optim.Adam(weights, lr=0.01, **way),
    "AdamW": lambda weights, **way: torch.optim.AdamW(weights, lr=0.01, **way),
    "SGD": lambda weights, **way: torch.optim.SGD(weights, lr=0.01, momentum=0.9, **way),
}.items():
    for way in ({"foreach": False}, {"foreach": True}, {"fused": True}):
        apart = (weights(make, way, torch.contiguous_format) - weights(make, way, torch.channels_last)).abs().max().item()
        print(f"{name} {way}: weights after a resume as channels_last {'the same' if apart < 1e-4 else 'others' if apart > 1e-3 else apart}")
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" "$work/resume.py" 2>"$work/err" | tee "$work/said"
if grep -i 'stride\|memory' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
Adam {'foreach': False}: weights after a resume as channels_last the same
Adam {'foreach': True}: weights after a resume as channels_last the same
Adam {'fused': True}: weights after a resume as channels_last others
AdamW {'foreach': False}: weights after a resume as channels_last the same
AdamW {'foreach': True}: weights after a resume as channels_last the same
AdamW {'fused': True}: weights after a resume as channels_last others
SGD {'foreach': False}: weights after a resume as channels_last the same
SGD {'foreach': True}: weights after a resume as channels_last the same
SGD {'fused': True}: weights after a resume as channels_last others
TEXT
