"""Loads a bench-textgen checkpoint into the PyTorch model of bench/peers and compares logits to 1e-4.

Usage: logits_test.py LOCKSTEP DUMP_LOGITS. Exits 77, saying why, where Python lacks torch and safetensors.
"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def main():
    lockstep, dump_logits = (pathlib.Path(word).absolute() for word in sys.argv[1:3])
    for module in ("torch", "safetensors"):
        if importlib.util.find_spec(module) is None:
            skip(f"python3 has no {module}")
    if not dump_logits.exists():
        skip("make test-python builds what this test runs")
    import torch
    from safetensors.torch import load_file

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench/peers"))
    from text_model import WORKLOADS, TextModel

    vocab, layers, width, heads, context = sizes = WORKLOADS["textgen"][0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lockstep, "train", "textgen", "preset=bench-textgen", "precision=fp32", "stop.steps=1",
                        "batch.global=2", "batch.micro=1", "batch.accumulation=1", "--devices", "cpu:2",
                        "--name", "run"], cwd=folder, check=True)
        file = next(pathlib.Path(folder).glob("runs/run/checkpoints/step-*/model.safetensors"))
        out = pathlib.Path(folder) / "logits"
        subprocess.run([dump_logits, file, *map(str, (vocab, width, layers, heads, context)), out], check=True)
        ours = torch.frombuffer(bytearray(out.read_bytes()), dtype=torch.float32).view(2, context, vocab)
        model = TextModel(*sizes)
        missing = model.load_state_dict(load_file(file))
        assert not missing.missing_keys and not missing.unexpected_keys, missing
    place = torch.arange(2 * context)
    tokens = ((7 * place + 3 * place * place) % vocab).view(2, context)
    with torch.no_grad():
        theirs = model.logits(tokens)
    difference = (ours - theirs).abs().max().item()
    print(f"largest difference of logits: {difference:.2e} (largest logit {theirs.abs().max().item():.3f})")
    assert difference <= 1e-4, difference


main()
