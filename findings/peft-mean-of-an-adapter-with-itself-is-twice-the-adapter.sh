#!/usr/bin/env bash
# PEFT: half an adapter plus half of the same adapter, combined as "linear", is twice the adapter.
#
# Guess: add_weighted_adapter(adapters, weights, combination_type="linear") gives the weighted sum of what LoRA adapters add to a
# weight; with equal ones and weights that sum to 1, nothing changes.
# Seen with peft 0.21.2, transformers 5.24.0, torch 2.11.0 and numpy 2.3.5: the factors A and B are each summed with the roots of
# the weights, so that the product has mixed terms, A of one times B of the other. Two equal adapters come out doubled, four
# fourfold. A mean of two that differ is off by more than its own size, and "linear" is not even the nearest of
# its rank, as "svd" is; "cat" is the sum. One adapter with weight 1 is right. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q peft==0.21.2 transformers==5.24.0 torch==2.11.0 numpy==2.3.5
cat >"$work/mix.py" <<'PYTHON'
import torch
from peft import LoraConfig, get_peft_model

torch.manual_seed(0)
config = LoraConfig(target_modules=["0"], r=2, init_lora_weights=False)
model = get_peft_model(torch.nn.Sequential(torch.nn.Linear(6, 6, bias=False)), config, adapter_name="p")
layer = model.base_model.model[0]
for name in ("q", "s", "t"):
    model.add_adapter(name, config)
model.add_adapter("other", config)
for factors in (layer.lora_A, layer.lora_B):
    for name in ("q", "s", "t"):
        factors[name].load_state_dict(factors["p"].state_dict())


def mixed(names, weights, kind):
    model.add_weighted_adapter(names, weights, "mixed", combination_type=kind)
    got = layer.get_delta_weight("mixed").detach()
    model.delete_adapter("mixed")
    return got


adapter = layer.get_delta_weight("p").detach()
for names in (["p"], ["p", "q"], ["p", "q", "s", "t"]):
    for kind in ("cat", "svd", "linear"):
        got = mixed(names, [1 / len(names)] * len(names), kind)
        times = (got.norm() / adapter.norm()).item()
        print(f"{len(names)} equal, {kind}: {times:.2f} times the adapter, {torch.allclose(got, times * adapter, atol=1e-5)}")
expected = (adapter + layer.get_delta_weight("other").detach()) / 2
for kind in ("cat", "svd", "linear"):
    print(f"mean of two, {kind}: off by {((mixed(['p', 'other'], [0.5, 0.5], kind) - expected).norm() / expected.norm()).item():.2f}")
PYTHON
HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 "$work/venv/bin/python" "$work/mix.py" 2>"$work/err" | tee "$work/said"
if grep -i 'warn\|linear' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
1 equal, cat: 1.00 times the adapter, True
1 equal, svd: 1.00 times the adapter, True
1 equal, linear: 1.00 times the adapter, True
2 equal, cat: 1.00 times the adapter, True
2 equal, svd: 1.00 times the adapter, True
2 equal, linear: 2.00 times the adapter, True
4 equal, cat: 1.00 times the adapter, True
4 equal, svd: 1.00 times the adapter, True
4 equal, linear: 4.00 times the adapter, True
mean of two, cat: off by 0.00
mean of two, svd: off by 0.35
mean of two, linear: off by 1.07
TEXT
