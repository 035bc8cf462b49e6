#!/usr/bin/env bash
# On a CPU torch's layer norm of float16 gives the right output for small inputs, and NaN as every gradient; so does its group norm.
#
# Guess: normalisation keeps mean and deviation in float32 whatever the inputs are, so that where the output is right the gradient
# is. BERT's epsilon is 1e-12, and a row of zeros, as padding or dropout leaves one, is normalised to zeros.
# Seen with torch 2.11.0: native_layer_norm returns one over the deviation in the type of the weights. With float16 weights it is inf
# above 65504: for a row of zeros with epsilon 1e-12, and for inputs of about 1e-5. The output was computed before it was rounded
# and is right to float16. The backward pass reads the rounded one: the gradients of input and weight are NaN. With float32
# weights, or in bfloat16, all gradients are finite. group_norm does the same. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 numpy==2.3.5
cat >"$work/norms.py" <<'PYTHON'
import torch
from torch.nn.functional import group_norm, layer_norm


def words(tensor):
    return "finite" if tensor.isfinite().all() else "NaN" if tensor.isnan().any() else "inf"


def layer(x, weight, bias):
    return layer_norm(x, (64,), weight, bias, 1e-12)


def group(x, weight, bias):
    return group_norm(x, 1, weight, bias, 1e-12)


for name, scale in (("inputs of 1", 1.0), ("inputs of 1e-5", 1e-5), ("zeros", 0.0)):
    for norm in (layer, group):
        for inputs, weights in ((torch.float16, torch.float16), (torch.float16, torch.float32), (torch.bfloat16, torch.bfloat16)):
            torch.manual_seed(0)
            x = (torch.randn(4, 64) * scale).to(inputs).requires_grad_()
            weight = torch.ones(64, dtype=weights, requires_grad=True)
            bias = torch.zeros(64, dtype=weights, requires_grad=True)
            out = norm(x, weight, bias)
            expected = norm(x.detach().double(), weight.detach().double(), bias.detach().double())
            right = (out.double() - expected).abs().max() < 0.02
            out.sum().backward()
            print(f"{norm.__name__} norm of {name}, {str(inputs)[6:]} with weights of {str(weights)[6:]}: output {'right' if right else 'wrong'}, "
                  f"gradients of input {words(x.grad)}, of weight {words(weight.grad)}")
PYTHON
"$work/venv/bin/python" "$work/norms.py" 2>"$work/err" | tee "$work/said"
if grep -i 'nan\|overflow\|float16' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
layer norm of inputs of 1, float16 with weights of float16: output right, gradients of input finite, of weight finite
layer norm of inputs of 1, float16 with weights of float32: output right, gradients of input finite, of weight finite
layer norm of inputs of 1, bfloat16 with weights of bfloat16: output right, gradients of input finite, of weight finite
group norm of inputs of 1, float16 with weights of float16: output right, gradients of input finite, of weight finite
group norm of inputs of 1, float16 with weights of float32: output right, gradients of input finite, of weight finite
group norm of inputs of 1, bfloat16 with weights of bfloat16: output right, gradients of input finite, of weight finite
layer norm of inputs of 1e-5, float16 with weights of float16: output right, gradients of input NaN, of weight NaN
layer norm of inputs of 1e-5, float16 with weights of float32: output right, gradients of input finite, of weight finite
layer norm of inputs of 1e-5, bfloat16 with weights of bfloat16: output right, gradients of input finite, of weight finite
group norm of inputs of 1e-5, float16 with weights of float16: output right, gradients of input NaN, of weight NaN
group norm of inputs of 1e-5, float16 with weights of float32: output right, gradients of input finite, of weight finite
group norm of inputs of 1e-5, bfloat16 with weights of bfloat16: output right, gradients of input finite, of weight finite
layer norm of zeros, float16 with weights of float16: output right, gradients of input NaN, of weight NaN
layer norm of zeros, float16 with weights of float32: output right, gradients of input finite, of weight finite
layer norm of zeros, bfloat16 with weights of bfloat16: output right, gradients of input finite, of weight finite
group norm of zeros, float16 with weights of float16: output right, gradients of input NaN, of weight NaN
group norm of zeros, float16 with weights of float32: output right, gradients of input finite, of weight finite
group norm of zeros, bfloat16 with weights of bfloat16: output right, gradients of input finite, of weight finite
TEXT
