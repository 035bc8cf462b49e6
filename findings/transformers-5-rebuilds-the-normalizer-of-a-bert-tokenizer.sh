#!/usr/bin/env bash
# A BertTokenizerFast made from one's own tokenizers.Tokenizer is another one after save_pretrained and from_pretrained.
#
# Guess: what save_pretrained wrote, from_pretrained gives back: tokenizer.json holds the normalizer, and the ids of a text are
# the same before and after, as with transformers 4.
# Seen with transformers 4.57.6 (tokenizers 0.22.2) and 5.24.0 (tokenizers 0.23.3), a WordPiece whose normalizer is
# Sequence(NFD, Lowercase, StripAccents), as courses make it: with 4.57.6 the ids stay. With 5.24.0 the file still holds the
# Sequence, but AutoTokenizer builds Bert's own normalizer in its place, which sets Chinese characters apart and drops control
# characters: [UNK] becomes two pieces. PreTrainedTokenizerFast on the same folder gives the ids of before.
# Fails if a version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/show.py" <<'PYTHON'
import json
import sys

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import AutoTokenizer, BertTokenizerFast, PreTrainedTokenizerFast

words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cafe", "東", "京"]
own = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
own.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
before = BertTokenizerFast(tokenizer_object=own)
folder = sys.argv[1]
before.save_pretrained(folder)
with open(folder + "/tokenizer.json") as file:
    print("saved normalizer:", json.load(file)["normalizer"]["type"])
for name, tokenizer in (("made", before), ("auto", AutoTokenizer.from_pretrained(folder)),
                        ("plain", PreTrainedTokenizerFast.from_pretrained(folder))):
    kind = json.loads(tokenizer.backend_tokenizer.to_str())["normalizer"]["type"]
    print(f"{name}: {kind}, {tokenizer.tokenize('Café 東京')}")
PYTHON
for pair in 4.57.6:0.22.2 5.24.0:0.23.3; do
  version=${pair%:*}
  python3 -m venv "$work/$version"
  "$work/$version/bin/python" -m pip install -q "transformers==$version" "tokenizers==${pair#*:}" numpy==2.3.5
  "$work/$version/bin/python" "$work/show.py" "$work/saved-$version" 2>"$work/err" | sed "s/^/$version: /" | tee -a "$work/said"
done
diff "$work/said" - <<'TEXT'
4.57.6: saved normalizer: Sequence
4.57.6: made: Sequence, ['cafe', '[UNK]']
4.57.6: auto: Sequence, ['cafe', '[UNK]']
4.57.6: plain: Sequence, ['cafe', '[UNK]']
5.24.0: saved normalizer: Sequence
5.24.0: made: Sequence, ['cafe', '[UNK]']
5.24.0: auto: BertNormalizer, ['cafe', '東', '京']
5.24.0: plain: Sequence, ['cafe', '[UNK]']
TEXT
