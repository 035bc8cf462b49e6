"""Weights that torchvision saved give examples/own_images the classes that torchvision's own model gives.

Usage: torchvision_test.py LOCKSTEP PLUGIN. Exits 77, saying why, where Python lacks torchvision.
"""
import csv
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

PICTURES, SIZE = 24, 64


def save_model(path):
    """A ResNet-18 of three classes with weights and statistics drawn at random."""
    import torch
    import torchvision
    torch.manual_seed(3)
    model = torchvision.models.resnet18(num_classes=3)
    with torch.no_grad():
        for name, value in model.named_buffers():
            if name.endswith("running_mean"):
                value.uniform_(-0.2, 0.2)
            if name.endswith("running_var"):
                value.uniform_(0.5, 2)
        for name, value in model.named_parameters():
            if ".bn" in name or name.startswith("bn"):
                value.uniform_(-1, 1)
    torch.save({"state_dict": {f"module.{name}": value for name, value in model.state_dict().items()}}, path)
    return model.eval()


def write_pictures(folder, generator):
    """Squares of the size that the model sees, so that nothing is cut or resized."""
    import torch
    import torchvision
    for kind in ("a", "b", "c"):
        (folder / kind).mkdir(parents=True)
        for i in range(PICTURES // 3):
            coarse = torch.rand(1, 3, 8, 8, generator=generator)
            pixels = torch.nn.functional.interpolate(coarse, SIZE, mode="bilinear")[0].mul(255).byte()
            torchvision.io.write_png(pixels, str(folder / kind / f"{i}.png"))


def main():
    lockstep, plugin = (str(pathlib.Path(word).absolute()) for word in sys.argv[1:3])
    if importlib.util.find_spec("torchvision") is None:
        print("skipped: python3 has no torchvision")
        sys.exit(77)
    import torch
    import torchvision
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = save_model(folder / "resnet18.pth")
        write_pictures(folder / "data", torch.Generator().manual_seed(5))
        run = [lockstep, "train", "images", "--plugin", plugin, "--name", "a", "--devices", "cpu:1", "data.path=data",
               f"data.size={SIZE}", "init.from=resnet18.pth", "norm.statistics=frozen", "optimizer.lr=0", "stop.steps=1", "batch.global=12",
               "precision=fp32"]
        subprocess.run(run, check=True, cwd=folder)
        subprocess.run([lockstep, "predict", "a", "data", "out=found", "--devices", "cpu:2"], check=True, cwd=folder)
        with open(folder / "found/predictions.csv", newline="") as file:
            found = list(csv.DictReader(file))
        assert len(found) == PICTURES, found
        normalize = torchvision.transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
        worst, classes = 0, set()
        for row in found:
            pixels = torchvision.io.read_image(str(folder / "data" / row["file"])).float() / 255
            with torch.no_grad():
                shares = model(normalize(pixels)[None])[0].softmax(0)
            best = int(shares.argmax())
            assert row["class"] == "abc"[best], (row, shares)
            worst = max(worst, abs(float(row["probability"]) - float(shares[best])))
            classes.add(best)
    assert worst < 1e-4, worst
    print(f"{PICTURES} pictures of {len(classes)} classes; the largest difference of a probability is {worst:.1e}")


if __name__ == "__main__":
    main()
