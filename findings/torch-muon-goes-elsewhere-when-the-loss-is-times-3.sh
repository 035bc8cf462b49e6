#!/usr/bin/env bash
# After a batch of one sample, torch.optim.Muon takes another step when the loss is multiplied by 3, and the same step when it is by 4.
#
# Guess: Muon makes the singular values of the gradient alike, so that the scale of the loss does not matter. The gradient of a
# linear layer for one sample has rank 1, and the update is a multiple of it, up to rounding in the third digit.
# Seen with torch 2.11.0 and weights in float32: the gradient and each iteration are rounded to bfloat16, which fills the other 255
# directions with errors of about 0.2%. Five iterations multiply a small singular value by up to 485. The update is 1.9 times as
# long as that of the same iteration in float64, at a cosine of 0.53: most of it is rounding. A factor of 3 rounds differently,
# and the new step has a cosine of 0.32 with the old one. A factor of 4, a power of two, gives the old one. More samples raise
# the rank: 2 of them give a cosine of 0.78 with float64, 16 of 0.94 and 256 of 1.00. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/step.py" <<'PYTHON'
import torch


def step(samples, factor):
    torch.manual_seed(0)
    layer = torch.nn.Linear(256, 256, bias=False)
    x, target = torch.randn(samples, 256), torch.randn(samples, 256)
    optimizer = torch.optim.Muon([layer.weight], lr=1.0, weight_decay=0.0)
    before = layer.weight.detach().clone()
    (((layer(x) - target) ** 2).mean() * factor).backward()
    optimizer.step()
    return (before - layer.weight.detach()).double(), layer.weight.grad.double()


def in_float64(gradient):
    x = gradient / gradient.norm()
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (2.0315 * square @ square - 4.7750 * square) @ x
    return x


def cosine(a, b):
    return f"{((a * b).sum() / (a.norm() * b.norm())).item():.1f}"


for samples in (1, 2, 16, 256):
    plain, gradient = step(samples, 1.0)
    exact = in_float64(gradient)
    print(
        f"{samples} samples: {(plain.norm() / exact.norm()).item():.1f} times as long as in float64, cosine {cosine(plain, exact)}; "
        f"loss times 4: cosine {cosine(plain, step(samples, 4.0)[0])}, times 3: {cosine(plain, step(samples, 3.0)[0])}")
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" "$work/step.py" 2>"$work/err" | tee "$work/said"
if grep -i 'rank\|bfloat16\|precision' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
1 samples: 1.9 times as long as in float64, cosine 0.5; loss times 4: cosine 1.0, times 3: 0.3
2 samples: 1.3 times as long as in float64, cosine 0.8; loss times 4: cosine 1.0, times 3: 0.6
16 samples: 1.1 times as long as in float64, cosine 0.9; loss times 4: cosine 1.0, times 3: 0.9
256 samples: 1.0 times as long as in float64, cosine 1.0; loss times 4: cosine 1.0, times 3: 1.0
TEXT
