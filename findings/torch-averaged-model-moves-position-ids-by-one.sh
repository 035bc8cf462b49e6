#!/usr/bin/env bash
# The moving average of a BERT that does not change is another BERT with a decay of 0.9999, and itself with 0.999.
#
# Guess: AveragedModel(use_buffers=True) averages running statistics with the weights; the average of a constant is that constant,
# for a table of indices and for a mask, too.
# Seen with torch 2.11.0, transformers 5.24.0, torchvision 0.26.0 and open-clip-torch 3.3.0: integers are averaged in float32, and
# the fraction is cut off. 0.9999 * 11 + 0.0001 * 11 is below 11 there, so position 11 becomes position 10. BERT reads 99 of 512
# position embeddings from the row before, and Swin moves 17% of its relative positions. The decays 0.9, 0.9995 and 0.9999 do
# so; 0.99 and 0.999 do not. Besides, get_ema_multi_avg_fn() and the default SWA make NaN of two -inf. CLIP keeps its causal
# mask as a buffer, and all its text features become NaN. Nothing is printed. use_buffers=True is the default of Lightning's
# WeightAveraging.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torch==2.11.0 torchvision==0.26.0 transformers==5.24.0 open-clip-torch==3.3.0 numpy==2.3.5
cat >"$work/average.py" <<'PYTHON'
import torch
from open_clip.model import CLIP
from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn, get_ema_multi_avg_fn
from torchvision.models import swin_t
from transformers import BertConfig, BertModel

torch.manual_seed(0)
bert = BertModel(BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, vocab_size=100)).eval()
swin = swin_t().eval()
clip = CLIP(
    embed_dim=32, vision_cfg={"layers": 1, "width": 64, "head_width": 32, "patch_size": 16, "image_size": 32},
    text_cfg={"context_length": 16, "vocab_size": 100, "width": 32, "heads": 2, "layers": 1}).eval()
tokens = torch.randint(1, 90, (1, 40))


def average(model, how):
    averaged = AveragedModel(model, use_buffers=True, **how)
    for _ in range(10):
        averaged.update_parameters(model)
    return averaged.module.eval()


def moved(model, averaged, name):
    pairs = [(a, b) for (n, a), (_, b) in zip(model.named_buffers(), averaged.named_buffers()) if n.endswith(name)]
    return sum((a != b).sum().item() for a, b in pairs), sum(a.numel() for a, _ in pairs)


def same(a, b):
    apart = ((a - b).norm() / a.norm()).item()
    return "NaN" if apart != apart else "the same" if apart < 1e-4 else "others" if apart > 0.1 else apart


ways = [("SWA", {})]
for decay in (0.9, 0.99, 0.999, 0.9995, 0.9999):
    ways.append((f"multi_avg_fn, {decay}", {"multi_avg_fn": get_ema_multi_avg_fn(decay)}))
    ways.append((f"avg_fn, {decay}", {"avg_fn": get_ema_avg_fn(decay)}))
for name, how in ways:
    with torch.no_grad():
        other = average(bert, how)
        positions = moved(bert, other, "position_ids")[0]
        outputs = same(bert(tokens).last_hidden_state, other(tokens).last_hidden_state)
        wrong, total = moved(swin, average(swin, how), "relative_position_index")
        text = same(clip.encode_text(tokens[:, :16]), average(clip, how).encode_text(tokens[:, :16]))
    print(f"{name}: BERT {positions} positions moved, outputs {outputs}; Swin {100 * wrong // total}% moved; CLIP text {text}", flush=True)
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" "$work/average.py" 2>"$work/err" | tee "$work/said"
if grep -i 'buffer\|integer\|averag' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
SWA: BERT 0 positions moved, outputs the same; Swin 0% moved; CLIP text NaN
multi_avg_fn, 0.9: BERT 147 positions moved, outputs others; Swin 27% moved; CLIP text NaN
avg_fn, 0.9: BERT 147 positions moved, outputs others; Swin 27% moved; CLIP text the same
multi_avg_fn, 0.99: BERT 0 positions moved, outputs the same; Swin 0% moved; CLIP text NaN
avg_fn, 0.99: BERT 0 positions moved, outputs the same; Swin 0% moved; CLIP text the same
multi_avg_fn, 0.999: BERT 0 positions moved, outputs the same; Swin 0% moved; CLIP text NaN
avg_fn, 0.999: BERT 0 positions moved, outputs the same; Swin 0% moved; CLIP text the same
multi_avg_fn, 0.9995: BERT 160 positions moved, outputs others; Swin 32% moved; CLIP text NaN
avg_fn, 0.9995: BERT 160 positions moved, outputs others; Swin 32% moved; CLIP text the same
multi_avg_fn, 0.9999: BERT 99 positions moved, outputs others; Swin 17% moved; CLIP text NaN
avg_fn, 0.9999: BERT 99 positions moved, outputs others; Swin 17% moved; CLIP text the same
TEXT
