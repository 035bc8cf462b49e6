#!/usr/bin/env bash
# Asked for pytorch_model.bin, transformers 5 writes model.safetensors, and says nothing.
#
# Guess: save_pretrained(folder, safe_serialization=False) writes pytorch_model.bin, or refuses a keyword that it no longer
# knows. Scripts say it where weights are shared between modules, or where another program reads the folder.
# Seen with torch 2.11.0: transformers 4.57.6 writes pytorch_model.bin; 5.24.0 writes model.safetensors. It takes any
# keyword, so a misspelt one passes, too.
# Fails if either version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
cat >"$work/save.py" <<'PYTHON'
import os, sys, warnings
warnings.simplefilter("error")
import transformers
config = transformers.BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
model = transformers.BertForMaskedLM(config)
for number, words in enumerate([{"safe_serialization": False}, {"safe_serialisation": False}]):
    folder = os.path.join(sys.argv[1], f"{transformers.__version__}-{number}")
    model.save_pretrained(folder, **words)
    print(transformers.__version__, words, *(name for name in sorted(os.listdir(folder)) if "json" not in name))
PYTHON
saved() {
  "$work/venv/bin/python" -m pip install -q "transformers==$1" torch==2.11.0 numpy==2.3.5
  "$work/venv/bin/python" "$work/save.py" "$work" 2>"$work/errors" | tee -a "$work/said"
  if grep -i warn "$work/errors"; then exit 1; fi
}
saved 4.57.6
saved 5.24.0
diff "$work/said" - <<'TEXT'
4.57.6 {'safe_serialization': False} pytorch_model.bin
4.57.6 {'safe_serialisation': False} model.safetensors
5.24.0 {'safe_serialization': False} model.safetensors
5.24.0 {'safe_serialisation': False} model.safetensors
TEXT
