"""Loads a bench-textgen checkpoint into the peers' PyTorch model and compares logits to 1e-4.

Usage: logits_test.py LOCKSTEP DUMP_LOGITS PEERS_DIR. Exits 77, saying why, where Python lacks torch
and safetensors or the peers' model is not there.
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
    lockstep, dump_logits, peers = (pathlib.Path(word).absolute() for word in sys.argv[1:4])
    for module in ("torch", "safetensors"):
        if importlib.util.find_spec(module) is None:
            skip(f"python3 has no {module}")
    if not (peers / "peer_bench.py").exists():
        skip(f"{peers} has no peer_bench.py")
    import torch
    from safetensors.torch import load_file

    sys.path.insert(0, str(peers))
    import peer_bench

    vocab, width, layers, heads, context = 256, 384, 6, 6, 512
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([lockstep, "train", "textgen", "preset=bench-textgen", "precision=fp32", "stop.steps=1",
                        "batch.global=2", "batch.micro=1", "batch.accumulation=1", "--devices", "cpu:2",
                        "--name", "run"], cwd=folder, check=True)
        file = next(pathlib.Path(folder).glob("runs/run/checkpoints/step-*/model.safetensors"))
        out = pathlib.Path(folder) / "logits"
        subprocess.run([dump_logits, file, *map(str, (vocab, width, layers, heads, context)), out], check=True)
        ours = torch.frombuffer(bytearray(out.read_bytes()), dtype=torch.float32).view(2, context, vocab)
        model = peer_bench.GPT(vocab, width, layers, heads, context)
        state = load_file(file)
        missing = model.load_state_dict({**state, "head.weight": state["tok.weight"]})
        assert not missing.missing_keys and not missing.unexpected_keys, missing
    place = torch.arange(2 * context)
    tokens = ((7 * place + 3 * place * place) % vocab).view(2, context)
    with torch.no_grad():
        hidden = model.tok(tokens) + model.pos(torch.arange(context))
        for block in model.blocks:
            hidden = block(hidden)
        theirs = model.head(model.ln(hidden))
    difference = (ours - theirs).abs().max().item()
    print(f"largest difference of logits: {difference:.2e} (largest logit {theirs.abs().max().item():.3f})")
    assert difference <= 1e-4, difference


main()
