"""Lines of mixed scripts for comparing tokenizers: the same for the same seed."""
import json
import os
import pathlib
import random
import unicodedata

# First and last characters of blocks, and how often a block is drawn.
BLOCKS = {
    "latin": (0x61, 0x7A, 30), "capitals": (0x41, 0x5A, 10), "digits": (0x30, 0x39, 5),
    "ascii marks": (0x21, 0x2F, 6), "more ascii marks": (0x3A, 0x40, 3), "latin-1": (0xA1, 0xFF, 8),
    "latin extended": (0x100, 0x24F, 8), "greek": (0x370, 0x3FF, 5), "cyrillic": (0x400, 0x52F, 6),
    "armenian": (0x531, 0x58F, 2), "hebrew": (0x591, 0x5F4, 4), "arabic": (0x600, 0x6FF, 6),
    "devanagari": (0x900, 0x97F, 6), "bengali": (0x980, 0x9FE, 2), "tamil": (0xB82, 0xBFA, 2),
    "thai": (0xE01, 0xE5B, 5), "tibetan": (0xF00, 0xFDA, 2), "georgian": (0x10A0, 0x10FF, 2),
    "jamo": (0x1100, 0x11FF, 2), "latin additional": (0x1E00, 0x1EFF, 6), "greek extended": (0x1F00, 0x1FFE, 4),
    "punctuation": (0x2000, 0x206F, 6), "money": (0x20A0, 0x20C0, 2), "letterlike": (0x2100, 0x218B, 3),
    "arrows": (0x2190, 0x22FF, 2), "enclosed": (0x2460, 0x24FF, 2), "kana": (0x3041, 0x30FF, 8),
    "cjk marks": (0x3000, 0x303F, 4), "cjk": (0x4E00, 0x9FFF, 12), "hangul": (0xAC00, 0xD7A3, 8),
    "compatibility": (0xF900, 0xFAFF, 2), "ligatures": (0xFB00, 0xFB4F, 3), "arabic forms": (0xFB50, 0xFDFF, 1),
    "half marks": (0xFE20, 0xFE4F, 1), "full width": (0xFF01, 0xFFEF, 4), "combining": (0x300, 0x36F, 8),
    "music": (0x1D15E, 0x1D1E8, 1), "letters of mathematics": (0x1D400, 0x1D7FF, 1), "emoji": (0x1F300, 0x1F64F, 5),
    "supplementary cjk": (0x20000, 0x2A6DF, 1), "private": (0xE000, 0xF8FF, 1), "control": (0x0, 0x1F, 2),
    "c1": (0x7F, 0x9F, 1), "tags": (0xE0001, 0xE007F, 1),
}
WHOLE = ["[SEP]", "[CLS]", "[MASK]", "[UNK]", "[PAD]", "[sep]", "[ SEP ]", "İstanbul", "ΌΣΟΣ", "straße", "ﬁnance", "e\u0301",
         "\u1112\u1161\u11ab", "각", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "\u200b", "\u200d", "\ufeff", "\u00ad", "\ufffd", "\u0000",
         "don't", "I'm", "C++", "...", "A.B.C.", "100,000.5", "user@example.org", "한국어", "東京タワー", "ทดสอบ", "हिन्दी", "\u0344\u0323", "a\u0301\u0323", "a\u0323\u0301", "ä\u0323", "\u2028", "\u0085",
         "\u3000", "\u00a0", "\t", "\r\n", "Å", "K", "ǅ", "ẞ", "ﷺ", "①", "㎏", "½", "null", "NULL", "<s>", "</s>", "<mask>", "▁"]


def word(generator, blocks, weights):
    """Mostly of one script, with a few characters of others, as names and slips of the keyboard are."""
    if generator.random() < 0.12:
        return generator.choice(WHOLE)
    home = generator.choices(blocks, weights)[0]
    length = generator.choice((1, 2, 3, 4, 5, 6, 8, 12)) if generator.random() < 0.99 else generator.randint(90, 140)
    return "".join(chr(generator.randint(*(home if generator.random() < 0.9 else generator.choices(blocks, weights)[0])))
                   for _ in range(length))


def real_sentences():
    """Of LOCKSTEP_TEST_DATA, where it is."""
    folder = pathlib.Path(os.environ.get("LOCKSTEP_TEST_DATA", "")) / "dimabsa" / "mams_atsa"
    for path in sorted(folder.glob("*.jsonl")) if os.environ.get("LOCKSTEP_TEST_DATA") else ():
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            yield next(record[key] for key in ("Text", "text", "sentence") if key in record)


def mixed_lines(count, seed=5):
    generator = random.Random(seed)
    blocks = [(first, last) for first, last, _ in BLOCKS.values()]
    weights = [weight for _, _, weight in BLOCKS.values()]
    lines = []
    while len(lines) < count:
        words = [word(generator, blocks, weights) for _ in range(generator.randint(0, 14))]
        lines.append("".join(w + generator.choice((" ", " ", " ", "  ", "", "\u3000", ", ")) for w in words))
    return lines


def plain(text):
    """Without characters that join their neighbours, and those without a shape."""
    joining = "\u0e33\u0eb3\uff9e\uff9f"
    ranges = ((0x1100, 0x11FF), (0xFFA0, 0xFFDC), (0x1F1E6, 0x1F1FF), (0x1F3FB, 0x1F3FF))
    return "".join(c for c in text if unicodedata.category(c)[0] not in "MC" and c not in joining and
                   not any(first <= ord(c) <= last for first, last in ranges))
