"""Makes the small data that the pages of a reader would have: made.py WHAT FOLDER."""
import datetime
import gzip
import json
import math
import pathlib
import random
import struct
import sys
import zlib


def tiff(path, planes):
    """An uncompressed 8-bit TIFF with a page per plane, each a list of rows."""
    data, offsets = bytearray(b"II*\0\0\0\0\0"), []
    for rows in planes:
        at = len(data)
        data += b"".join(bytes(row) for row in rows)
        data += b"\0" * (len(data) % 2)
        tags = [(256, 4, len(rows[0])), (257, 4, len(rows)), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, at), (277, 3, 1),
                (278, 4, len(rows)), (279, 4, len(rows) * len(rows[0]))]
        offsets.append(len(data))
        data += struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags) + b"\0\0\0\0"
    struct.pack_into("<I", data, 4, offsets[0])
    for begin, after in zip(offsets, offsets[1:]):
        struct.pack_into("<I", data, begin + 2 + 9 * 12, after)
    path.write_bytes(data)


def png(path, rows):
    """An 8-bit grey PNG."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) + chunk(b"IEND", b""))


def ball(size, middle, radius, inside, outside):
    return [[[inside if math.dist((z, y, x), middle) < radius else outside for x in range(size)] for y in range(size)] for z in range(size)]


def scan(path, size=32, middle=(16, 16, 16)):
    tiff(path, ball(size, middle, 8, 200, 30))


def volumes(folder):
    """train_images, train_labels and test_images of balls, train.csv and test.csv."""
    for name in ("train_images", "train_labels", "test_images"):
        (folder / name).mkdir(parents=True)
    for i in range(5):
        middle = (14 + i, 16, 18 - i)
        scan(folder / f"train_images/{i}.tif", middle=middle)
        tiff(folder / f"train_labels/{i}.tif", ball(32, middle, 8, 1, 0))
    for i in range(2):
        scan(folder / f"test_images/{10 + i}.tif")
    (folder / "test.csv").write_text("id\n10\n11\n")


def scans(folder):
    folder.mkdir(parents=True)
    for name in "ab":
        scan(folder / f"{name}.tif")


def nifti(path, middle=(16, 16, 16), inside=200, outside=30):
    """A gzipped NIfTI of a ball in 8 bits, 1 mm per voxel."""
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, 32, 32, 32, 1, 1, 1, 1)
    struct.pack_into("<hh", header, 70, 2, 8)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 1, 1, 1, 1)
    struct.pack_into("<f", header, 108, 352)
    struct.pack_into("<hh", header, 252, 0, 1)
    for i in range(3):
        struct.pack_into("<4f", header, 280 + 16 * i, *(1.0 if i == j else 0.0 for j in range(4)))
    header[344:348] = b"n+1\0"
    path.write_bytes(gzip.compress(bytes(header) + bytes(v for plane in ball(32, middle, 8, inside, outside) for row in plane for v in row)))


def nnunet(folder):
    """A raw folder of nnU-Net with one label and one channel, and labels of its test cases."""
    cases = {"Tr": [f"cell_{i:03}" for i in range(5)], "Ts": ["cell_100", "cell_101"]}
    for part, names in cases.items():
        (folder / f"images{part}").mkdir(parents=True)
        (folder / f"labels{part}").mkdir()
        for i, name in enumerate(names):
            nifti(folder / f"images{part}/{name}_0000.nii.gz", (14 + i, 16, 18 - i))
            nifti(folder / f"labels{part}/{name}.nii.gz", (14 + i, 16, 18 - i), 1, 0)
    (folder / "dataset.json").write_text(json.dumps({"channel_names": {"0": "MRI"}, "labels": {"background": 0, "cell": 1},
                                                     "numTraining": 5, "file_ending": ".nii.gz"}))


def coco(folder):
    """train.json and valid.json with pictures of bright squares and dark bars, of the classes of a chess board."""
    names = ["black-knight", "white-knight", "white-queen", "pawn", "rook", "bishop", "king"]
    chance = random.Random(1)
    for part, count in (("train", 24), ("valid", 8)):
        (folder / part).mkdir(parents=True)
        images, annotations = [], []
        for i in range(count):
            rows = [[90] * 128 for _ in range(128)]
            file = f"{part}_{i:03}.png"
            for place in range(4):
                kind = (i + place) % len(names)
                width, height, left, top = 16 + 2 * kind, 30 - 2 * kind, 8 + 60 * (place % 2), 8 + 60 * (place // 2)
                for y in range(top, top + height):
                    rows[y][left:left + width] = [30 * kind + 40] * width
                annotations.append({"id": len(annotations) + 1, "image_id": i, "category_id": kind + 1, "iscrowd": 0,
                                    "bbox": [left, top, width, height], "area": width * height})
            images.append({"id": i, "file_name": file, "width": 128, "height": 128})
            png(folder / part / file, [[min(255, max(0, value + chance.randrange(-5, 6))) for value in row] for row in rows])
        (folder / f"{part}.json").write_text(json.dumps(
            {"images": images, "annotations": annotations, "categories": [{"id": i + 1, "name": name} for i, name in enumerate(names)]}))


def prices(folder):
    """Daily prices of three symbols, 2021 to 2025."""
    folder.mkdir(parents=True)
    for symbol in ("AAPL", "IBM", "MSFT"):
        chance, price = random.Random(symbol), 100.0
        lines = ["timestamp,open,high,low,close,volume"]
        day = datetime.date(2021, 1, 1)
        while day < datetime.date(2025, 12, 1):
            before, price = price, price * math.exp(chance.gauss(0, 0.02))
            lines.append(f"{day},{before:.2f},{max(before, price) * 1.01:.2f},{min(before, price) * 0.99:.2f},{price:.2f},{chance.randrange(1000, 9000)}")
            day += datetime.timedelta(days=1)
        (folder / f"{symbol}.csv").write_text("\n".join(lines) + "\n")


def together(folder):
    """all.csv: two symbols of `prices` one below the other, told apart by the column Name."""
    lines = []
    for symbol in ("AAPL", "IBM"):
        names, *rows = (folder / f"prices/{symbol}.csv").read_text().splitlines()
        lines += [*([] if lines else [f"{names},Name"]), *(f"{row},{symbol}" for row in rows[:400])]
    (folder / "all.csv").write_text("\n".join(lines) + "\n")


def tables(folder):
    """wine.csv, queries.csv, columns.txt, and in signals a table per symbol with features of its own."""
    (folder / "signals").mkdir(parents=True)
    chance = random.Random(3)

    def rows(names, count, row):
        return ",".join(names) + "\n" + "".join(",".join(str(value) for value in row(i)) + "\n" for i in range(count))

    def wine(i):
        kind = i % 3
        return [f"{chance.gauss(kind, 1):.3f}", f"{chance.gauss(-kind, 1):.3f}", f"{chance.random():.3f}", ("barolo", "grignolino", "barbera")[kind]]
    (folder / "wine.csv").write_text(rows(["alcohol", "ash", "hue", "kind"], 240, wine))

    def query(i):
        good = chance.randrange(3)
        return [i // 10, f"{chance.gauss(good, 1):.3f}", f"{chance.random():.3f}", good]
    (folder / "queries.csv").write_text(rows(["query", "match", "length", "relevance"], 400, query))
    for symbol in ("AAPL", "IBM"):
        def signal(i):
            up = chance.randrange(2)
            return [datetime.date(2022, 1, 1) + datetime.timedelta(days=i), f"{chance.gauss(up, 1):.3f}", f"{chance.random():.3f}", i % 7, up]
        (folder / f"signals/{symbol}.csv").write_text(rows(["timestamp", "momentum", "spread", "volume", "up"], 500, signal))
    (folder / "columns.txt").write_text("momentum\nspread\n")


def sentences(folder):
    """eng_restaurant_train_alltasks.jsonl and its like: sentences with quadruplets; test files without."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(4)
    things, words = ["soup", "waiter", "bread", "music"], {"great": 8.0, "fine": 6.0, "dull": 3.5, "awful": 1.5}

    def sentence(i, answered):
        thing, word = chance.choice(things), chance.choice(list(words))
        line = {"ID": f"s{i}", "Text": f"The {thing} was {word} ."}
        if answered:
            line["Quadruplet"] = [{"Aspect": thing, "Category": "FOOD#QUALITY", "Opinion": word, "VA": f"{words[word]:.2f}#{9 - words[word] / 2:.2f}"}]
        return json.dumps(line) + "\n"
    for name, count, answered in (("eng_restaurant_train_alltasks", 40, True), ("train", 40, True), ("gold", 8, True), ("test", 8, False),
                                  ("eng_restaurant_test_task3", 6, False), ("eng_laptop_test_task3", 6, False)):
        (folder / f"{name}.jsonl").write_text("".join(sentence(i, answered) for i in range(count)))


def texts(folder):
    """novel.txt, my.txt, texts.jsonl, prompts.txt, bad.jsonl, and my.toml, which names my.txt."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "It was the best of times, it was the worst of times. " * 400
    for name in ("novel", "my"):
        (folder / f"{name}.txt").write_text(text)
    (folder / "texts.jsonl").write_text("".join(json.dumps({"text": text[i:i + 300]}) + "\n" for i in range(0, 15000, 300)))
    (folder / "prompts.txt").write_text("It was\nThe best\n")
    (folder / "bad.jsonl").write_text('{"text": "good"}\n{"text": 3}\n')
    (folder / "my.toml").write_text('[data]\npath = "my.txt"\n[model]\ncontext = 32\n')


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if what == "scan":
        scan(folder)
    elif what == "nifti":
        nifti(folder)
    else:
        {"volumes": volumes, "nnunet": nnunet, "scans": scans, "coco": coco, "prices": prices, "together": together, "tables": tables, "sentences": sentences, "texts": texts}[what](folder)


if __name__ == "__main__":
    main()
