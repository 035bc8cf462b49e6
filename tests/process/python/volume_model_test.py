"""The volume recipe's loss and probability maps are those of the same network in PyTorch.

Usage: volume_model_test.py LOCKSTEP PEERS. Exits 77, saying why, where Python lacks torch or tifffile.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

WIDTH, DEPTH, PATCH, LARGE = 8, 2, 16, (24, 20, 28)


def write_volumes(folder):
    import numpy as np
    import tifffile
    generator = np.random.default_rng(3)
    for kind, count, shape in (("train", 2, (PATCH,) * 3), ("test", 1, LARGE)):
        for part in ("images", "labels"):
            (folder / f"{kind}_{part}").mkdir(parents=True)
        for i in range(count):
            image = generator.integers(0, 256, shape, dtype=np.uint8)
            label = (image > 180).astype(np.uint8)
            tifffile.imwrite(folder / f"{kind}_images/{kind}{i}.tif", image, compression="zlib")
            tifffile.imwrite(folder / f"{kind}_labels/{kind}{i}.tif", label, compression="zlib")


def tiled(model, image, torch):
    """Probabilities by windows of PATCH with half overlap and Gaussian weights."""
    places = torch.arange(PATCH) - (PATCH - 1) / 2
    line = torch.exp(-places**2 / (2 * (PATCH / 8) ** 2)).clamp(min=0.001)
    weight = line[:, None, None] * line[:, None] * line
    sums, weights = torch.zeros(image.shape), torch.zeros(image.shape)
    starts = [sorted({*range(0, n - PATCH, PATCH // 2), n - PATCH}) for n in image.shape]
    for z in starts[0]:
        for y in starts[1]:
            for x in starts[2]:
                at = (slice(z, z + PATCH), slice(y, y + PATCH), slice(x, x + PATCH))
                with torch.no_grad():
                    share = model(image[at][None, None]).sigmoid()[0, 0]
                sums[at] += share * weight
                weights[at] += weight
    return sums / weights


def main():
    lockstep, peers = (str(pathlib.Path(word).absolute()) for word in sys.argv[1:3])
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("tifffile") is None:
        print("skipped: python3 has no torch or no tifffile")
        sys.exit(77)
    import tifffile
    import torch
    sys.path.insert(0, peers)
    from volume_model import VolumeModel
    torch.manual_seed(1)
    model = VolumeModel(width=WIDTH, depth=DEPTH).eval()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_volumes(folder / "data")
        torch.save({f"module.{key}": value for key, value in model.state_dict().items()}, folder / "model.pt")
        run = [lockstep, "train", "volume", "--name", "a", "--devices", "cpu:1", "data.path=data", f"model.width={WIDTH}",
               f"model.depth={DEPTH}", "model.dropout=0", "model.decoder_dropout=0", f"data.patch={PATCH}",
               "data.patches=1", "data.valid_share=0", "augment.flip=false", "augment.rotate90=false",
               "augment.brightness=0", "augment.contrast=0", "batch.global=2", "init.from=model.pt", "optimizer.lr=0",
               "stop.steps=1", "precision=fp32"]
        subprocess.run(run, check=True, cwd=folder)
        events = [json.loads(line) for line in open(folder / "runs/a/events.jsonl")]
        loss = next(event["loss"] for event in events if event["kind"] == "step")
        read = lambda path: torch.from_numpy(tifffile.imread(folder / "data" / path)).float()
        images = torch.stack([read(f"train_images/train{i}.tif")[None] for i in range(2)]) / 255
        labels = torch.stack([read(f"train_labels/train{i}.tif")[None] for i in range(2)])
        expected = float(model(images, labels))
        assert abs(loss - expected) < 1e-4 * expected, (loss, expected)

        subprocess.run([lockstep, "predict", "a", "images=data/test_images", "out=found", "save=probabilities"], check=True,
                       cwd=folder)
        found = torch.from_numpy(tifffile.imread(folder / "found/test0_probability.tif"))
        mask = torch.from_numpy(tifffile.imread(folder / "found/test0.tif"))
        wanted = tiled(model, read("test_images/test0.tif") / 255, torch)
    worst = float((found - wanted).abs().max())
    assert worst < 1e-4, worst
    assert torch.equal(mask, (found > 0.5).byte())
    print(f"loss {loss:.6f}, as expected {expected:.6f}; the largest difference of a probability is {worst:.1e}")


if __name__ == "__main__":
    main()
