#!/usr/bin/env bash
# With two optimizers and update_every_n_steps=2, Lightning's EMAWeightAveraging returns the model as it was before training.
#
# Guess: the average lags a little behind the weights, and update_every_n_steps=2 halves the work of averaging. A module with two
# optimizers (a GAN, say) differs in that global_step counts both, so that each batch is averaged, or every second one.
# Seen with lightning 2.6.6 and torch 2.11.0: the callback looks once per batch, when both optimizers have stepped. The indices of
# these steps are 1, 3, 5 and so on, none of them is a multiple of 2, and the average is never updated. It still holds the initial
# weights. Each validation measures those, and the end of fit() copies them over the trained ones. The same holds for each
# interval that shares a factor with the number of optimizers: 2 and 4 for two of them, 3 for three. Nothing is printed.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install -q lightning==2.6.6 torch==2.11.0 numpy==2.3.5
cat >"$work/train.py" <<'PYTHON'
import lightning
import torch
from lightning.pytorch.callbacks import EMAWeightAveraging

torch.manual_seed(1)
data = torch.utils.data.TensorDataset(torch.randn(64, 4))


class Module(lightning.LightningModule):
    def __init__(self, optimizers):
        super().__init__()
        torch.manual_seed(0)
        self.parts = torch.nn.ModuleList(torch.nn.Linear(4, 1) for _ in range(optimizers))
        self.automatic_optimization = False
        self.validated = []

    def loss(self, x):
        return ((sum(part(x) for part in self.parts) - x.sum(1, keepdim=True) - 3) ** 2).mean()

    def training_step(self, batch, index):
        optimizers = self.optimizers()
        for optimizer in optimizers if isinstance(optimizers, list) else [optimizers]:
            optimizer.zero_grad()
            self.manual_backward(self.loss(batch[0]))
            optimizer.step()

    def validation_step(self, batch, index):
        self.validated.append(self.loss(batch[0]).item())

    def configure_optimizers(self):
        return [torch.optim.SGD(part.parameters(), lr=0.05) for part in self.parts]


def run(optimizers, every):
    module = Module(optimizers)
    initial = module.loss(data.tensors[0]).item()
    trainer = lightning.Trainer(
        max_epochs=20, callbacks=[EMAWeightAveraging(decay=0.9, update_every_n_steps=every)], accelerator="cpu", logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0)
    trainer.fit(module, torch.utils.data.DataLoader(data, batch_size=8), torch.utils.data.DataLoader(data, batch_size=64))
    name = lambda loss: "initial" if loss == initial else "low" if loss < 0.1 * initial else f"{loss:.3f}"
    print(f"{optimizers} optimizers, every {every}: loss of the last validation {name(module.validated[-1])}, "
          f"after fit() {name(module.loss(data.tensors[0]).item())}", flush=True)


for optimizers, every in ((1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (2, 4), (3, 2), (3, 3)):
    run(optimizers, every)
PYTHON
cd "$work"
OMP_NUM_THREADS=1 "$work/venv/bin/python" "$work/train.py" 2>"$work/err" | grep optimizers | tee "$work/said"
if grep -i 'averag\|ema\b' "$work/err"; then exit 1; fi
diff "$work/said" - <<'TEXT'
1 optimizers, every 1: loss of the last validation low, after fit() low
1 optimizers, every 2: loss of the last validation low, after fit() low
2 optimizers, every 1: loss of the last validation low, after fit() low
2 optimizers, every 2: loss of the last validation initial, after fit() initial
2 optimizers, every 3: loss of the last validation low, after fit() low
2 optimizers, every 4: loss of the last validation initial, after fit() initial
3 optimizers, every 2: loss of the last validation low, after fit() low
3 optimizers, every 3: loss of the last validation initial, after fit() initial
TEXT
