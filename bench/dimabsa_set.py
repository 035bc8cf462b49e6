"""A BERT-base folder with random weights, and sentences of a stated length, for bench/dimabsa.sh.

Usage: python3 bench/dimabsa_set.py FOLDER [--tuples N…]
Writes FOLDER/bert (config.json, vocab.txt, model.safetensors; needs a python3 with torch) and FOLDER/eng_made_train_task2.jsonl:
512 sentences with one tuple each whose six queries have 763 tokens together, 127.2 each; or, with --tuples, batches of
sentences with so many tuples, of 128 tokens at most.
"""
import argparse
import json
import pathlib
import random
import struct

import torch

WIDTH, LAYERS, HEADS, VOCABULARY, POSITIONS = 768, 12, 12, 30522, 512
WORDS = 117  # of a text: with the 61 tokens of the six queries 763
QUERIES = ("what aspects opinions opinion given the aspect does describe category valence arousal and null ?").split()


def shapes():
    yield "embeddings.word_embeddings.weight", (VOCABULARY, WIDTH)
    yield "embeddings.position_embeddings.weight", (POSITIONS, WIDTH)
    yield "embeddings.token_type_embeddings.weight", (2, WIDTH)
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{i}" for i in range(LAYERS)):
        products = {"attention.self.query": (WIDTH, WIDTH), "attention.self.key": (WIDTH, WIDTH),
                    "attention.self.value": (WIDTH, WIDTH), "attention.output.dense": (WIDTH, WIDTH),
                    "intermediate.dense": (4 * WIDTH, WIDTH), "output.dense": (WIDTH, 4 * WIDTH)}
        for name, shape in products.items():
            yield f"{layer}.{name}.weight", shape
            yield f"{layer}.{name}.bias", shape[:1]
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for norm in norms:
        yield f"{norm}.weight", (WIDTH,)
        yield f"{norm}.bias", (WIDTH,)


def values_of(name, shape):
    if "LayerNorm.weight" in name:
        return torch.ones(shape)
    return torch.zeros(shape) if name.endswith(".bias") else 0.02 * torch.randn(shape)


def write_safetensors(path):
    header, offset = {}, 0
    for name, shape in shapes():
        size = 4 * torch.Size(shape).numel()
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes():
            file.write(values_of(name, shape).numpy().tobytes())


def write_model(folder):
    folder.mkdir(parents=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *QUERIES]
    words += [f"w{i}" for i in range(VOCABULARY - len(words))]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    (folder / "config.json").write_text(json.dumps({
        "model_type": "bert", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "intermediate_size": 4 * WIDTH, "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1}))
    write_safetensors(folder / "model.safetensors")


def sentence(draw, number, words, tuples):
    text = draw.sample([f"w{i}" for i in range(20000)], words)
    pairs = [draw.sample(text, 2) for _ in range(tuples)]
    return {"ID": f"s{number}", "Text": " ".join(text), "Triplet": [
        {"Aspect": aspect, "Opinion": opinion, "VA": f"{draw.uniform(1, 9):.2f}#{draw.uniform(1, 9):.2f}"}
        for aspect, opinion in pairs]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tuples", type=int, nargs="+")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    write_model(arguments.folder / "bert")
    draw = random.Random(1)
    counts = [1] * 512 if not arguments.tuples else arguments.tuples * 32
    words = WORDS if not arguments.tuples else 128 - 14
    with open(arguments.folder / "eng_made_train_task2.jsonl", "w", encoding="utf-8") as file:
        for number, tuples in enumerate(counts):
            file.write(json.dumps(sentence(draw, number, words, tuples)) + "\n")


if __name__ == "__main__":
    main()
