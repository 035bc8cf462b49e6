"""Pieces of dimabsa's tokenizers are AutoTokenizer's in every kind of folder that transformers 4 and 5 save: 1,000 odd lines.

Usage: dimabsa_auto_tokens_test.py DUMP_TOKENS. Models are trained here. Needs transformers 4, and LOCKSTEP_TRANSFORMERS5 for
what version 5 saves; exits 77, saying why, where Python lacks them.
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from mixed_lines import mixed_lines

NEW = "the [ASP] food [/ASP] supercali Supercali tasted taste größe Größe [ASP]"
CLASSES = {"bert-uncased": ("BertTokenizer", "bert"), "bert-cased": ("BertTokenizer", "bert"),
           "xlm": ("XLMRobertaTokenizer", "xlm-roberta"), "deberta": ("DebertaV2Tokenizer", "deberta-v2")}
# Settings of tokenizer_config.json, and the folders that have them.
CHANGED = {"accents": ("bert-uncased", {"strip_accents": False}), "whole": ("bert-uncased", {"tokenize_chinese_chars": False}),
           "small": ("deberta", {"do_lower_case": True}), "split": ("deberta", {"split_by_punct": True})}


def seeds(folder):
    """What the models' own authors publish: a vocabulary, or a sentencepiece model."""
    import sentencepiece
    from tokenizers import BertWordPieceTokenizer
    lines = mixed_lines(2500, seed=9) + ["the food was great but the service was slow", "die Suppe war gut"] * 50
    for name, (kind, model_type) in CLASSES.items():
        path = folder / name
        path.mkdir(parents=True)
        config = {"tokenizer_class": kind}
        if model_type == "bert":
            config["do_lower_case"] = name == "bert-uncased"
            learned = BertWordPieceTokenizer(lowercase=config["do_lower_case"])
            learned.train_from_iterator(lines, vocab_size=6000, limit_alphabet=4000, show_progress=False)
            learned.save_model(str(path))
        else:
            names = {"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "unk": "[UNK]"} if name == "deberta" else {}
            options = {f"{key}_piece": piece for key, piece in names.items()}
            options.update({f"{key}_id": place for place, key in enumerate(names)})
            file = path / ("spm.model" if name == "deberta" else "sentencepiece.bpe.model")
            with open(file, "wb") as model:
                sentencepiece.SentencePieceTrainer.train(
                    sentence_iterator=iter(lines[:1200] + lines[-100:]), model_writer=model, vocab_size=14000,
                    character_coverage=0.98, minloglevel=2, hard_vocab_limit=False, **options)
        (path / "tokenizer_config.json").write_text(json.dumps(config))
        (path / "config.json").write_text(json.dumps({"model_type": model_type}))
    return folder


def changed(path, source, settings):
    shutil.copytree(source, path)
    config = json.loads((path / "tokenizer_config.json").read_text())
    (path / "tokenizer_config.json").write_text(json.dumps({**config, **settings}))
    return path


def pipelines(vocabulary):
    """WordPiece put together by hand, as courses do."""
    from tokenizers import Tokenizer, models
    from tokenizers.normalizers import (NFD, NFKC, NFKD, BertNormalizer, Lowercase, Replace, Sequence, Strip, StripAccents)
    from tokenizers.pre_tokenizers import BertPreTokenizer, Punctuation, Whitespace, WhitespaceSplit
    from tokenizers.pre_tokenizers import Sequence as Words
    small = Sequence([NFD(), Lowercase(), StripAccents()])
    for name, normalizer, words in (
            ("course", small, BertPreTokenizer()), ("course-split", small, Words([WhitespaceSplit(), Punctuation()])),
            ("course-words", small, Whitespace()), ("nfkc", Sequence([NFKC(), Lowercase()]), BertPreTokenizer()),
            ("bare", None, WhitespaceSplit()), ("within", Sequence([BertNormalizer(lowercase=True)]), BertPreTokenizer()),
            ("replaced", Sequence([NFKD(), StripAccents(), Lowercase(), Replace("``", '"'), Strip()]), BertPreTokenizer())):
        tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        tokenizer.pre_tokenizer = words
        yield name, tokenizer


def save(sources, out):
    """Folders that this version of transformers saves, with the ids that it then reads, in ids.json."""
    import transformers
    from tokenizers import AddedToken
    texts = [*mixed_lines(1000, seed=77), NEW]

    def keep(name, tokenizer, model_type="bert"):
        path = out / name
        tokenizer.save_pretrained(path)
        if not (path / "config.json").exists():
            (path / "config.json").write_text(json.dumps({"model_type": model_type}))
        again = transformers.AutoTokenizer.from_pretrained(path)
        (path / "ids.json").write_text(json.dumps(again(texts, add_special_tokens=False)["input_ids"]))

    def more(tokenizer):
        tokenizer.add_special_tokens({"additional_special_tokens": ["[ASP]", "[/ASP]"]})
        tokenizer.add_tokens(["supercali", "Größe", AddedToken("taste", single_word=True)])
        return tokenizer

    for name, (_, model_type) in CLASSES.items():
        keep(name, transformers.AutoTokenizer.from_pretrained(sources / name), model_type)
        keep(f"{name}-more", more(transformers.AutoTokenizer.from_pretrained(sources / name)), model_type)
        # Into the folder itself, so that files of an older version stay behind.
        shutil.copytree(sources / name, out / f"{name}-over")
        keep(f"{name}-over", more(transformers.AutoTokenizer.from_pretrained(sources / name)), model_type)
        # Without tokenizer.json. Of a sentencepiece model alone sentencepiece counts here: see the design.
        if transformers.__version__.startswith("4.") and model_type == "bert":
            keep(f"{name}-slow", more(transformers.AutoTokenizer.from_pretrained(sources / name, use_fast=False)))
    for name, (source, settings) in CHANGED.items():
        path = changed(out.with_name(f"{out.name}-{name}"), sources / source, settings)
        keep(name, transformers.AutoTokenizer.from_pretrained(path), CLASSES[source][1])
    vocabulary = transformers.AutoTokenizer.from_pretrained(sources / "bert-uncased").get_vocab()
    special = {f"{key}_token": f"[{key.upper()}]" for key in ("unk", "pad", "cls", "sep", "mask")}
    for name, tokenizer in pipelines(vocabulary):
        keep(name, transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special))
        if name == "course":
            keep("course-bert", transformers.BertTokenizerFast(tokenizer_object=tokenizer))
    (out / "texts").write_text("".join(json.dumps(text) + "\n" for text in texts))


def scores_of(folder):
    """By id, of Unigram; else nothing."""
    path = folder / "tokenizer.json"
    model = json.loads(path.read_text())["model"] if path.exists() else {}
    return [score for _, score in model["vocab"]] if model.get("type") == "Unigram" else None


def compare(dump, out):
    texts = (out / "texts").read_text()
    for path in sorted(out.glob("*/ids.json")):
        folder = path.parent
        lines = subprocess.run([dump, folder], input=texts, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        ties, scores = 0, scores_of(folder)
        for text, expected, line in zip(texts.splitlines(), json.loads(path.read_text()), lines, strict=True):
            found = [piece[0] for piece in json.loads(line)]
            if found == expected:
                continue
            # Cuts of a word that are equally likely may differ by the last bit of a sum.
            assert scores and sorted(found) == sorted(expected), (out.name, folder.name, text, found, expected)
            ties += 1
        assert ties <= 10, (folder, ties)
        print(f"{out.name}, {folder.name}: {len(lines)} lines, the same; {ties} with pieces in another order")


def main():
    if sys.argv[1] == "--save":
        save(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
        return
    for module in ("transformers", "sentencepiece"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: python3 has no {module}")
            sys.exit(77)
    dump = str(pathlib.Path(sys.argv[1]).absolute())
    os.environ["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        before = seeds(scratch / "seeds")
        pythons = {"transformers 4": sys.executable, "transformers 5": os.environ.get("LOCKSTEP_TRANSFORMERS5")}
        for version, python in pythons.items():
            if python is None:
                print("LOCKSTEP_TRANSFORMERS5 names no python3 with transformers 5: its folders are left out")
                continue
            out = scratch / version
            out.mkdir()
            subprocess.run([python, __file__, "--save", str(before), str(out)], check=True)
            compare(dump, out)
            before = out  # which version 5 opens, and saves anew


if __name__ == "__main__":
    main()
