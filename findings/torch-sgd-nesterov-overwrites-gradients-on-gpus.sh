#!/usr/bin/env bash
# SGD(nesterov=True) overwrites p.grad where it works with foreach, which is the default on GPUs.
#
# Guess: step() reads gradients and leaves them as they are, so that a norm or a histogram of p.grad after step() is that of
# the gradient, on any device and with any options; foreach=True differs from foreach=False in speed alone.
# Seen with torch 2.11.0: with foreach=True, and neither weight_decay nor maximize, momentum times the running mean is added to
# p.grad in place. Its norm after step() is that of the update, here 1.9 times as large in the first step and 4.7 times in the
# fifth. With weight_decay or maximize, where the sums are new tensors, it stays. So a log of norms jumps as weight_decay is set
# to 0, or as the model moves from a CPU to a GPU, where foreach is chosen by itself. Without nesterov, and in Adam and NAdam,
# gradients stay. The weights are the same either way. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/norms.py" <<'PYTHON'
import torch


def ratios(make):
    """Norm of p.grad after step() over that before, in each of five steps with one gradient; and the weights."""
    weight = torch.nn.Parameter(torch.zeros(8))
    optimizer = make([weight])
    found = []
    for _ in range(5):
        weight.grad = torch.full((8,), 0.5)
        before = weight.grad.norm().item()
        optimizer.step()
        found.append(round(weight.grad.norm().item() / before, 2))
    return found, weight.detach().clone()


def sgd(**more):
    return lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9, **more)


for name, make in {
    "nesterov, foreach=False": sgd(nesterov=True, foreach=False),
    "nesterov, foreach=True": sgd(nesterov=True, foreach=True),
    "nesterov, fused=True": sgd(nesterov=True, fused=True),
    "nesterov, foreach=True, weight_decay=1e-9": sgd(nesterov=True, foreach=True, weight_decay=1e-9),
    "momentum alone, foreach=True": sgd(foreach=True),
    "NAdam, foreach=True": lambda weights: torch.optim.NAdam(weights, foreach=True),
    "Adam, foreach=True": lambda weights: torch.optim.Adam(weights, foreach=True),
}.items():
    print(f"{name}: {ratios(make)[0]}")
one, other = (ratios(sgd(nesterov=True, foreach=foreach))[1] for foreach in (False, True))
print("weights the same:", torch.allclose(one, other))
PYTHON
"$work/venv/bin/python" "$work/norms.py" 2>"$work/err" | tee "$work/said"
diff "$work/said" - <<'TEXT'
nesterov, foreach=False: [1.0, 1.0, 1.0, 1.0, 1.0]
nesterov, foreach=True: [1.9, 2.71, 3.44, 4.1, 4.69]
nesterov, fused=True: [1.0, 1.0, 1.0, 1.0, 1.0]
nesterov, foreach=True, weight_decay=1e-9: [1.0, 1.0, 1.0, 1.0, 1.0]
momentum alone, foreach=True: [1.0, 1.0, 1.0, 1.0, 1.0]
NAdam, foreach=True: [1.0, 1.0, 1.0, 1.0, 1.0]
Adam, foreach=True: [1.0, 1.0, 1.0, 1.0, 1.0]
weights the same: True
TEXT
