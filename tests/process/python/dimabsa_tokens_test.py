"""Pieces of dimabsa's tokenizers are those of Hugging Face's, with the same places in the text: 10,000 lines of mixed
scripts and, where LOCKSTEP_TEST_DATA has them, real sentences.

Usage: dimabsa_tokens_test.py DUMP_TOKENS. Exits 77, saying why, where Python lacks them.
"""
import importlib.util
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

for module in ("tokenizers", "sentencepiece"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: python3 has no {module}")
        sys.exit(77)

from mixed_lines import mixed_lines, real_sentences
from tokenizers import AddedToken, BertWordPieceTokenizer, Tokenizer

LINES = 10_000
# Capitals of Unicode 16 and 17, which the system's utf8proc does not know yet.
NEW_CAPITALS = [0x1C89, 0xA7CB, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA, 0xA7DC, *range(0x10D50, 0x10D66),
                *range(0x16EA0, 0x16EB9)]


def ours(dump, folder, texts):
    """Per text, (id, first character, end character) of each piece."""
    out = subprocess.run([dump, folder], input="".join(json.dumps(text) + "\n" for text in texts), check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    for text, line in zip(texts, out.splitlines(), strict=True):
        character_at = {}
        for place, size in enumerate(itertools.accumulate((len(c.encode()) for c in text), initial=0)):
            character_at[size] = place
        yield [(piece, character_at[begin], character_at[end]) for piece, begin, end, _ in json.loads(line)]


def compare(name, dump, folder, reference, texts):
    encodings = reference.encode_batch(texts, add_special_tokens=False)
    pieces = 0
    for text, found, encoding in zip(texts, ours(dump, folder, texts), encodings, strict=True):
        expected = [(piece, *place) for piece, place in zip(encoding.ids, encoding.offsets)]
        assert found == expected, (name, text, encoding.tokens,
                                   [pair for pair in itertools.zip_longest(found, expected) if pair[0] != pair[1]][:5])
        pieces += len(found)
    print(f"{name}: {len(texts)} lines, {pieces} pieces, the same")


def word_piece(dump, folder, texts):
    for rules in ({"lowercase": True}, {"lowercase": False}, {"lowercase": True, "strip_accents": False},
                  {"lowercase": False, "strip_accents": True, "handle_chinese_chars": False}):
        path = folder / "-".join(f"{key}.{value}" for key, value in rules.items())
        path.mkdir()
        trainer = BertWordPieceTokenizer(**rules)
        trainer.train_from_iterator(texts[::2], vocab_size=9000, limit_alphabet=6000, show_progress=False)
        trainer.save_model(str(path))
        reference = BertWordPieceTokenizer(str(path / "vocab.txt"), **rules)
        names = {"lowercase": "do_lower_case", "handle_chinese_chars": "tokenize_chinese_chars"}
        config = {names.get(key, key): value for key, value in rules.items()}
        (path / "tokenizer_config.json").write_text(json.dumps(config))
        compare(f"vocab.txt {rules}", dump, path, reference, texts)

    # The same from tokenizer.json alone, with tokens of its own.
    only = folder / "json"
    only.mkdir()
    reference.add_tokens([AddedToken("taste", single_word=True), AddedToken("CAFÉ", normalized=True)])
    reference.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True)])
    reference.save(str(only / "tokenizer.json"))
    compare("tokenizer.json", dump, only, Tokenizer.from_file(str(only / "tokenizer.json")), texts)


def every_character(dump, folder):
    """Each character by itself, between letters."""
    characters = [chr(c) for c in range(0x20000) if not 0xD800 <= c < 0xE000 and c not in NEW_CAPITALS]
    lines = [f"a{c}b {c}\u0301" for c in characters]
    path = folder / "characters"
    path.mkdir()
    trainer = BertWordPieceTokenizer(lowercase=True)
    trainer.train_from_iterator(lines, vocab_size=300_000, limit_alphabet=300_000, min_frequency=1, show_progress=False)
    trainer.save_model(str(path))
    for lower in (True, False):
        (path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower}))
        compare(f"every character, lower case {lower}", dump, path,
                BertWordPieceTokenizer(str(path / "vocab.txt"), lowercase=lower), lines)


def main():
    dump = pathlib.Path(sys.argv[1]).absolute()
    texts = mixed_lines(LINES) + list(real_sentences())
    with tempfile.TemporaryDirectory() as folder:
        word_piece(dump, pathlib.Path(folder), texts)
        every_character(dump, pathlib.Path(folder))


main()
