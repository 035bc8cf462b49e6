#!/usr/bin/env bash
# transformers 5 gives a DeBERTa-v3 model other tokens than it was trained on, and says nothing.
#
# Guess: a tokenizer that is read from the same spm.model gives the same tokens in each version of transformers: those of
# SentencePiece, whose file also holds how text is normalized first (nmt_nfkc, unless its maker chose otherwise).
# Seen with sentencepiece 0.2.1: transformers 4.57.6 (slow and fast) does; 5.24.0 passes over the normalization of the file
# and uses NFC instead, for DeBERTa-v2 and v3 alone (XLM-RoBERTa keeps its own). Full-width letters and digits, ligatures,
# circled numbers, the ideographic space and the zero-width space become unknown tokens where they were words. The
# tokenizer.json that version 5 saves has the same change in it, so the folder carries it to other readers.
# Fails if either version does otherwise.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/tokens.py" <<'PYTHON'
import json, pathlib, random, sys
import sentencepiece, transformers
folder = pathlib.Path(sys.argv[1])
if not (folder / "spm.model").exists():
    random.seed(1)
    words = "the quick brown fox jumps over lazy dogs while 12345 67890 ABC XYZ tokens are read from files again".split()
    lines = [" ".join(random.choices(words, k=12)) for _ in range(400)]
    names = {"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "unk": "[UNK]"}
    options = {f"{name}_piece": piece for name, piece in names.items()}
    options.update({f"{name}_id": place for place, name in enumerate(names)})
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_prefix=str(folder / "spm"),
                                             vocab_size=90, hard_vocab_limit=False, minloglevel=2, **options)
pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
classes = [transformers.DebertaV2Tokenizer, transformers.DebertaV2TokenizerFast]
other = 0
for text in ["ABC 123", "\uff21\uff22\uff23 \uff11\uff12\uff13", "\ufb01les", "the\u3000fox", "\u2460", "A\u200bB"]:
    expected = pieces.encode(text, out_type=str)
    got = [kind.from_pretrained(str(folder)).tokenize(text) for kind in classes]
    other += any(tokens != expected for tokens in got)
    print(transformers.__version__, ascii(text), expected, *([] if got[0] == expected else [ascii(got[0])]))
fast = classes[1].from_pretrained(str(folder))
fast.save_pretrained(folder / "saved")
normalizer = json.loads((folder / "saved/tokenizer.json").read_text())["normalizer"]
print(transformers.__version__, "tokenizer.json:", *(step["type"] for step in normalizer["normalizers"]))
print("other than SentencePiece's:", other)
PYTHON
mkdir "$work/model"
# tokens VERSION
tokens() {
  python3 -m venv "$work/venv-$1"
  "$work/venv-$1/bin/python" -m pip install -q "transformers==$1" sentencepiece==0.2.1 protobuf==6.33.1
  "$work/venv-$1/bin/python" "$work/tokens.py" "$work/model" 2>/dev/null | tee "$work/said-$1"
}
tokens 4.57.6
tokens 5.24.0
grep -q "SentencePiece's: 0" "$work/said-4.57.6"
grep -q "SentencePiece's: 5" "$work/said-5.24.0"
grep -q 'tokenizer.json:.* Precompiled' "$work/said-4.57.6"
if grep -q 'tokenizer.json:.* Precompiled' "$work/said-5.24.0"; then exit 1; fi
