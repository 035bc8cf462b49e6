"""Weights that torchvision and timm saved give the fewshot recipe's trunk their own models' features, every tensor
accounted for, and an exported run gives them back.

Usage: fewshot_trunk_test.py LOCKSTEP DUMP. Exits 77, saying why, where Python lacks torchvision or safetensors; without timm
its part is left out.
"""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

BESIDE = re.compile(r"^(layer4|fc)\.")


def random_statistics(model, torch):
    with torch.no_grad():
        for name, value in model.named_buffers():
            if name.endswith("running_mean"):
                value.uniform_(-0.2, 0.2)
            if name.endswith("running_var"):
                value.uniform_(0.5, 2)
        for name, value in model.named_parameters():
            if value.dim() == 1 and not name.startswith("fc"):
                value.uniform_(0.5, 1) if name.endswith("weight") else value.uniform_(-0.2, 0.2)
    return model.eval()


def features(model, x, torch):
    act = getattr(model, "relu", None) or model.act1
    with torch.no_grad():
        x = model.maxpool(act(model.bn1(model.conv1(x))))
        return model.layer3(model.layer2(model.layer1(x)))


def compare(dump, file, depth, model, folder, torch):
    import numpy as np
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(2, 3, 64, 96, generator=generator)
    (folder / "x").write_bytes(x.numpy().tobytes())
    said = subprocess.run([dump, str(file), str(depth), str(folder / "x"), str(folder / "y")], check=True,
                          capture_output=True, text=True).stdout
    report = json.loads(said)
    names = [name for name in model.state_dict() if not name.endswith("num_batches_tracked")]
    taken = [name for name in names if not BESIDE.match(name)]
    assert report["tensors"] == len(taken), (report, len(taken))
    assert all(re.match(r"(module\.)?(layer4|fc)\.", name) for name in report["unexpected"]), report
    assert not report["other_shape"] and not any(name.startswith("trunk") for name in report["missing"]), report
    wanted = features(model, x, torch)
    found = torch.from_numpy(np.fromfile(folder / "y", dtype=np.float32)).view(wanted.shape)
    worst = float((found - wanted).abs().max() / wanted.abs().max())
    assert worst < 1e-4, (file, worst)
    print(f"{file.name}: {len(taken)} tensors, {len(report['unexpected'])} passed over; "
          f"the largest difference of a feature is {worst:.1e} of the largest feature")


def train_and_export(lockstep, file, model, folder, torch):
    """The command line takes the file by itself, says what it passed over, and an export gives the weights back."""
    from safetensors.torch import load_file
    run = [lockstep, "train", "fewshot", "--name", "a", "--devices", "cpu:2", "preset=small", "model.depth=18", "model.width=64",
           "episode.size=64", "episode.n_way=2", "episode.k_shot=1", "episode.queries=2", "evaluate.episodes=1",
           f"init.from={file.name}", "optimizer.lr=0", "norm.statistics=frozen", "stop.steps=1", "precision=fp32"]
    said = subprocess.run(run, check=True, cwd=folder, capture_output=True, text=True).stderr
    assert re.search(r"first weights: \d+ tensors of .*missing and left as they were built, \d+ passed over", said), said
    wrong = subprocess.run(run[:4] + ["b"] + run[5:] + ["model.depth=34"], cwd=folder, capture_output=True, text=True)
    assert wrong.returncode != 0 and "holds a ResNet-" in wrong.stderr and "set model.depth=" in wrong.stderr, wrong.stderr
    subprocess.run([lockstep, "export", "a", "--out", "trunk.safetensors", "--rename", "trunk.*=*"], check=True, cwd=folder)
    state = load_file(folder / "trunk.safetensors")
    result = model.load_state_dict(state, strict=False)
    assert not result.unexpected_keys, result
    assert all(BESIDE.match(name) or name.endswith("num_batches_tracked") for name in result.missing_keys), result
    for name, value in model.state_dict().items():
        if name in state:
            assert torch.equal(value, state[name]), name


def main():
    lockstep, dump = (str(pathlib.Path(word).absolute()) for word in sys.argv[1:3])
    for name in ("torchvision", "safetensors"):
        if importlib.util.find_spec(name) is None:
            print(f"skipped: python3 has no {name}")
            sys.exit(77)
    if not pathlib.Path(dump).exists():
        print("skipped: make test-python builds what this test runs")
        sys.exit(77)
    import torch
    import torchvision
    from safetensors.torch import save_file
    torch.manual_seed(3)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for depth in (18, 50):
            model = random_statistics(getattr(torchvision.models, f"resnet{depth}")(), torch)
            file = folder / f"resnet{depth}.pth"
            torch.save(model.state_dict(), file)
            compare(dump, file, depth, model, folder, torch)
            parallel = folder / f"parallel{depth}.pth"
            torch.save({"state_dict": {f"module.{key}": value for key, value in model.state_dict().items()}}, parallel)
            compare(dump, parallel, depth, model, folder, torch)
            if importlib.util.find_spec("timm") is not None:
                import timm
                other = random_statistics(timm.create_model(f"resnet{depth}"), torch)
                save_file(other.state_dict(), folder / f"timm{depth}.safetensors")
                compare(dump, folder / f"timm{depth}.safetensors", depth, other, folder, torch)
            if depth == 18:
                train_and_export(lockstep, file, model, folder, torch)


if __name__ == "__main__":
    main()
