"""Pieces of dimabsa's tokenizers are those of Hugging Face's and sentencepiece's, with the same places in the text:
10,000 lines of mixed scripts and, where LOCKSTEP_TEST_DATA has them, real sentences.

Usage: dimabsa_tokens_test.py DUMP_TOKENS. Exits 77, saying why, where Python lacks them.
"""
import importlib.util
import io
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

import sentencepiece
from mixed_lines import mixed_lines, plain, real_sentences
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, BertWordPieceTokenizer, Regex, Tokenizer, models, normalizers, pre_tokenizers

LINES = 10_000
LONG_WORDS = ["x" * 99, "x" * 100, "x" * 101, "é" * 100, "é" * 101, "a " + "한" * 50 + " b", "a " + "한" * 51 + " b"]
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
        places = [place for _, *place, _ in json.loads(line)]
        assert all(begin < end for begin, end in places) and places == sorted(places, key=lambda p: p[0]), (text, places)
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


def train(texts, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=model, vocab_size=12000,
                                             character_coverage=0.98, minloglevel=2, hard_vocab_limit=False,
                                             **options)
    return model.getvalue()


class Equal:
    """Counts texts with the same pieces. Cuts of a text that are equally likely may differ by the last bit of a sum."""

    def __init__(self, name, model, id_of):
        proto = sentencepiece_model_pb2.ModelProto.FromString(model)
        self.name, self.same, self.ties, self.scores = name, 0, 0, {}
        for place, piece in enumerate(proto.pieces):
            self.scores[id_of(place)] = piece.score

    def check(self, text, found, expected, ids=lambda pieces: [piece[0] for piece in pieces]):
        if found == expected:
            self.same += 1
            return
        sums = [sum(self.scores.get(i, 0) for i in ids(pieces)) for pieces in (found, expected)]
        assert ids(found) != ids(expected) and abs(sums[0] - sums[1]) < 1e-3 * (1 + abs(sums[1])), (
            self.name, text, [pair for pair in itertools.zip_longest(found, expected) if pair[0] != pair[1]][:5])
        self.ties += 1

    def report(self):
        assert self.ties < 0.01 * self.same, (self.name, self.same, self.ties)
        print(f"{self.name}: {self.same} lines, the same; {self.ties} cut in another way that is as likely")


def xlm_roberta(dump, folder, texts):
    model = train(texts[:1500] + texts[LINES::2])
    path = folder / "xlm"
    path.mkdir()
    (path / "sentencepiece.bpe.model").write_bytes(model)
    id_of = lambda piece: 3 if piece == 0 else piece + 1
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")

    # sentencepiece itself, whatever the text.
    unspecial = [text for text in texts if not any(token in text for token in special)]
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    equal = Equal("XLM-R, sentencepiece", model, id_of)
    for text, pieces in zip(unspecial, ours(dump, path, unspecial)):
        equal.check(text, [piece[0] for piece in pieces], [id_of(piece) for piece in library.encode(text)], ids=list)
    equal.report()

    # Its conversion by Hugging Face, which changes groups of joined characters in a way of its own: without such.
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    pieces = [(token, 0.0) for token in special[:4]] + [(p.piece, p.score) for p in proto.pieces[3:]] + [("<mask>", 0.0)]
    reference = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    reference.normalizer = normalizers.Sequence([normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    reference.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")])
    reference.add_special_tokens([AddedToken(token, normalized=False) for token in special])
    simple = [plain(text) for text in texts]
    equal = Equal("XLM-R, tokenizers", model, id_of)
    encodings = reference.encode_batch(simple, add_special_tokens=False)
    for text, found, encoding in zip(simple, ours(dump, path, simple), encodings):
        equal.check(text, found, [(piece, *place) for piece, place in zip(encoding.ids, encoding.offsets)])
    equal.report()

    # A folder that has nothing but that conversion, which then counts, whatever the text.
    only = folder / "xlm-json"
    only.mkdir()
    reference.save(str(only / "tokenizer.json"))
    equal = Equal("XLM-R, tokenizer.json alone", model, id_of)
    encodings = reference.encode_batch(texts, add_special_tokens=False)
    for text, found, encoding in zip(texts, ours(dump, only, texts), encodings):
        equal.check(text, [piece[0] for piece in found], list(encoding.ids), ids=list)
    equal.report()


def deberta(dump, folder, texts):
    names = {"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "unk": "[UNK]"}
    options = {f"{name}_piece": piece for name, piece in names.items()}
    options.update({f"{name}_id": place for place, name in enumerate(names)})
    model = train(texts[:1500] + texts[LINES::2], **options)
    path = folder / "deberta"
    path.mkdir()
    (path / "spm.model").write_bytes(model)
    (path / "config.json").write_text('{"model_type": "deberta-v2"}')
    library = sentencepiece.SentencePieceProcessor(model_proto=model)
    unspecial = [text for text in texts if not any(token in text for token in (*names.values(), "[MASK]"))]
    equal = Equal("DeBERTa-v3, sentencepiece", model, lambda piece: piece)
    for text, pieces in zip(unspecial, ours(dump, path, unspecial)):
        equal.check(text, [piece[0] for piece in pieces], library.encode(text), ids=list)
    equal.report()
    special = "a[CLS] [SEP][PAD] [UNK] [MASK]b"
    marks = [piece for piece in next(ours(dump, path, [special])) if special[piece[1]] == "["]
    assert marks == [(1, 1, 6), (2, 7, 12), (0, 12, 17), (3, 18, 23), (library.get_piece_size(), 24, 30)], marks


def main():
    dump = pathlib.Path(sys.argv[1]).absolute()
    texts = mixed_lines(LINES) + list(real_sentences())
    with tempfile.TemporaryDirectory() as folder:
        xlm_roberta(dump, pathlib.Path(folder), texts)
        deberta(dump, pathlib.Path(folder), texts)
        word_piece(dump, pathlib.Path(folder), texts + LONG_WORDS)
        every_character(dump, pathlib.Path(folder))


main()
