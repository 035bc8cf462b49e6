#!/usr/bin/env bash
# torchmetrics gives an AUROC of 0.5 for a perfect ranking whose scores are large.
#
# Guess: AUROC and average precision depend on the order of scores alone, as in scikit-learn; scores without bounds (distances,
# margins, log odds of boosted trees) need no scaling.
# Seen with torchmetrics 1.9.0, torch 2.11.0 and scikit-learn 1.9.1: where a score lies outside 0 to 1, all go through a sigmoid in
# float32, which is 1.0 from about 17 on: scores of 20 to 40 are all ties. With one negative score in the data the others, too, are
# squeezed. float64 moves the limit to about 37. Nothing is printed. That logits get a sigmoid is documented, that ranks
# are lost is not.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q torchmetrics==1.9.0 torch==2.11.0 scikit-learn==1.9.1 numpy==2.3.5
cat >"$work/rank.py" <<'PYTHON'
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from torchmetrics import AUROC, AveragePrecision

labels = torch.tensor([0] * 10 + [1] * 10)
for low, high in ((0.0, 1.0), (-5.0, 5.0), (20.0, 40.0), (200.0, 400.0)):
    scores = torch.linspace(low, high, 20)
    got = []
    for metric in (AUROC("binary"), AveragePrecision("binary")):
        metric.update(scores, labels)
        got.append(f"{metric.compute().item():.2f}")
    print(f"scores {low:g} to {high:g}: AUROC {got[0]} ({roc_auc_score(labels, scores):.2f}), average precision {got[1]} ({average_precision_score(labels, scores):.2f})")
PYTHON
OMP_NUM_THREADS=1 "$work/venv/bin/python" "$work/rank.py" 2>"$work/err" | tee "$work/said"
if grep -i 'sigmoid\|score\|tie' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
scores 0 to 1: AUROC 1.00 (1.00), average precision 1.00 (1.00)
scores -5 to 5: AUROC 1.00 (1.00), average precision 1.00 (1.00)
scores 20 to 40: AUROC 0.50 (1.00), average precision 0.50 (1.00)
scores 200 to 400: AUROC 0.50 (1.00), average precision 0.50 (1.00)
TEXT
