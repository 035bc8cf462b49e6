#!/usr/bin/env bash
# On several devices the Trainer's train_loss is a mean over all ranks only up to the last step that was logged.
#
# Guess: train_loss, as trainer.train() returns it and all_results.json keeps it, is the mean loss of the run over all ranks,
# however often the run logs.
# Seen with torch 2.11.0, accelerate 1.15.0, transformers 4.57.6 and 5.24.0, two CPU ranks under torchrun, 4 steps of data
# that differ by rank: with logging_steps=1 both ranks say 8.1290. With logging_steps=100 (more than the run's steps, as
# with the default of 500 in short runs) rank 0 says 7.4735 and rank 1 says 8.7846, each the mean of its own data; the
# file has rank 0's. The logged `loss` is gathered from all ranks; what was added up since the last log is not.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
cat >"$work/train.py" <<'PYTHON'
import sys
import torch
from transformers import Trainer, TrainingArguments


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layer = torch.nn.Linear(8, 1)

    def forward(self, x, labels):
        return {"loss": ((self.layer(x) - labels) ** 2).mean()}


x = torch.randn(64, 8, generator=torch.Generator().manual_seed(0))
data = [{"x": row, "labels": row.sum(0, keepdim=True)} for row in x]
arguments = TrainingArguments(sys.argv[1], num_train_epochs=1, per_device_train_batch_size=8, logging_steps=int(sys.argv[2]),
                              use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True, remove_unused_columns=False)
loss = Trainer(model=Net(), args=arguments, train_dataset=data).train().training_loss
with open(f"{sys.argv[1]}.{arguments.process_index}", "w") as file:
    file.write(f"logging_steps={sys.argv[2]}, rank {arguments.process_index}: train_loss {loss:.4f}\n")
PYTHON
for version in 4.57.6 5.24.0; do
  "$work/venv/bin/python" -m pip install -q "transformers==$version" torch==2.11.0 accelerate==1.15.0 numpy==2.3.5
  for steps in 1 100; do
    OMP_NUM_THREADS=1 "$work/venv/bin/python" -m torch.distributed.run --standalone --nproc-per-node 2 "$work/train.py" "$work/out" "$steps" \
      >"$work/printed" 2>&1 || { cat "$work/printed" && exit 1; }
    sed "s/^/$version: /" "$work/out.0" "$work/out.1" | tee -a "$work/said"
  done
done
diff "$work/said" - <<'TEXT'
4.57.6: logging_steps=1, rank 0: train_loss 8.1290
4.57.6: logging_steps=1, rank 1: train_loss 8.1290
4.57.6: logging_steps=100, rank 0: train_loss 7.4735
4.57.6: logging_steps=100, rank 1: train_loss 8.7846
5.24.0: logging_steps=1, rank 0: train_loss 8.1290
5.24.0: logging_steps=1, rank 1: train_loss 8.1290
5.24.0: logging_steps=100, rank 0: train_loss 7.4735
5.24.0: logging_steps=100, rank 1: train_loss 8.7846
TEXT
