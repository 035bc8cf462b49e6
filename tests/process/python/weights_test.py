"""Files that real libraries write are read by init.from, bit for bit as torch.load and safetensors read them, or named.

Usage: weights_test.py DUMP-WEIGHTS LIBRARY. Models are tiny and random. Exits 77, saying why, where Python lacks the library.
`transformers5` needs LOCKSTEP_TRANSFORMERS5, a python3 that has transformers 5 and may lack torch, which it then takes from here.
"""
import collections
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

torch_parts = """
import os, sys
import torch, torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
dist.init_process_group("gloo")
rank, mesh = dist.get_rank(), init_device_mesh("cpu", (dist.get_world_size(),))
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
fully_shard(net[0], mesh=mesh)
fully_shard(net, mesh=mesh)
dcp.save({"model": net.state_dict()}, checkpoint_id="dcp")
torch.save(net.state_dict(), f"shard{rank}.pt")
full = get_model_state_dict(net, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
if rank == 0:
    torch.save(full, "full.pt")
dist.destroy_process_group()
"""


def tiny_net():
    import torch
    torch.manual_seed(7)
    return torch.nn.Sequential(collections.OrderedDict(
        embed=torch.nn.Embedding(8, 4), body=torch.nn.Linear(4, 6), norm=torch.nn.BatchNorm1d(6), head=torch.nn.Linear(6, 3)))


# Each makes files in a folder and yields their paths with the key of the state dict, or with the words that refuse them.
def of_torch(folder):
    import torch
    net = tiny_net()
    state = net.state_dict()
    beside = {"best_val_loss": torch.tensor(1.5), "rng": torch.get_rng_state(), "device": torch.device("cuda", 1), "dtype": torch.bfloat16,
              "seen": {1, 2}, "milestones": collections.Counter([3, 3]), "size": torch.Size([2]), "bytes": b"abc", "mask": torch.eye(3).to_sparse(),
              "optimizer": torch.optim.AdamW(net.parameters()).state_dict()}
    noted = {name: torch.nn.Parameter(value.clone(), requires_grad=value.is_floating_point()) for name, value in state.items()}
    for value in noted.values():
        value.no_weight_decay = True
    floats = {name: value for name, value in state.items() if value.is_floating_point()}
    flat = {"plain": state, "parameters": dict(net.named_parameters()), "noted": noted,
            "negated": {name: torch._neg_view(value).t() if value.dim() == 2 else torch._neg_view(value) for name, value in floats.items()}}
    for kind in (torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2):
        flat[str(kind).split(".")[1]] = {name: value.to(kind) for name, value in floats.items()}
    for name, tensors in flat.items():
        for legacy in (False,) if name.startswith("float8") else (False, True):  # torch.load does not open FP8 of the old format
            path = folder / f"{name}{'_legacy' * legacy}.pt"
            torch.save(tensors, path, _use_new_zipfile_serialization=not legacy)
            yield path, None
    for key in ("state_dict", "model_state_dict", "model", "model_state", "network_weights"):
        torch.save({**beside, key: state}, folder / f"{key}.pt")
        yield folder / f"{key}.pt", key
    torch.save({**state, "head.weight": state["head.weight"].to_sparse()}, folder / "sparse.pt")
    yield folder / "sparse.pt", ["head.weight is sparse", "to_dense()"]
    torch.save({"net": state, "accuracy": torch.tensor(0.5)}, folder / "net.pt")
    yield folder / "net.pt", ["a dict of net, accuracy", 'torch.load(FILE)["net"]']
    torch.jit.script(net).save(folder / "script.pt")
    yield folder / "script.pt", ["TorchScript", "torch.jit.load(FILE).state_dict()"]
    torch.export.save(torch.export.export(torch.nn.Linear(2, 1), (torch.ones(3, 2),)), folder / "program.pt2")
    yield folder / "program.pt2", ["an exported program"]
    numpy_file(state, folder / "arrays.npz")
    yield folder / "arrays.npz", ["NumPy's arrays"]


def numpy_file(state, path):
    import numpy
    numpy.savez(path, **{name: value.numpy() for name, value in state.items()})


def of_fsdp2(folder):
    run = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "parts.py"]
    (folder / "parts.py").write_text(torch_parts)
    subprocess.run(run, check=True, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"})
    yield folder / "full.pt", None
    for rank in range(2):
        yield folder / f"shard{rank}.pt", ["the shard of one rank", "full_state_dict=True"]
    yield folder / "dcp", ["a distributed checkpoint", "dcp_to_torch"]
    yield folder / "dcp/__0_0.distcp", ["a distributed checkpoint", "dcp_to_torch"]
    convert = [sys.executable, "-m", "torch.distributed.checkpoint.format_utils", "dcp_to_torch", "dcp", "weights.pt"]
    subprocess.run(convert, check=True, cwd=folder)
    yield folder / "weights.pt", "model"


def of_torchvision(folder):
    import torch
    import torchvision
    state = torchvision.models.shufflenet_v2_x0_5(num_classes=2).state_dict()
    torch.save(state, folder / "plain.pth")
    yield folder / "plain.pth", None
    # As pytorch/examples/imagenet saves it.
    torch.save({"epoch": 3, "arch": "shufflenet", "state_dict": {f"module.{name}": value for name, value in state.items()},
                "best_acc1": torch.tensor(76.3)}, folder / "checkpoint.pth.tar")
    yield folder / "checkpoint.pth.tar", "state_dict"


def of_timm(folder):
    import timm
    import timm.utils
    import torch
    model = timm.create_model("test_vit", pretrained=False, num_classes=2)
    timm.utils.CheckpointSaver(model, torch.optim.SGD(model.parameters(), lr=0.1), checkpoint_dir=str(folder)).save_checkpoint(0, 0.5)
    yield folder / "last.pth.tar", "state_dict"
    from safetensors.torch import save_model
    save_model(model, folder / "model.safetensors")
    yield folder / "model.safetensors", None


def of_lightning(folder):
    import lightning
    import torch

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(3, 1)

        def training_step(self, batch, _):
            return self.net(batch).square().mean()

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    trainer = lightning.Trainer(max_steps=2, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                                default_root_dir=folder)
    trainer.fit(Module(), torch.utils.data.DataLoader(torch.ones(4, 3)))
    trainer.save_checkpoint(folder / "last.ckpt")
    yield folder / "last.ckpt", "state_dict"


def of_accelerate(folder):
    import accelerate
    accelerator = accelerate.Accelerator(cpu=True)
    net = accelerator.prepare(tiny_net())
    accelerator.save_model(net, folder / "whole")
    yield folder / "whole", None
    accelerator.save_model(net, folder / "pieces", max_shard_size=200)
    assert (folder / "pieces/model.safetensors.index.json").exists()
    yield folder / "pieces", None
    accelerator.save_model(net, folder / "binary", max_shard_size=200, safe_serialization=False)
    yield folder / "binary", None
    accelerator.save_state(folder / "state")
    yield folder / "state", None


def of_diffusers(folder):
    """The function of huggingface_hub by which diffusers saves its models."""
    import huggingface_hub
    state = tiny_net().state_dict()
    huggingface_hub.save_torch_state_dict(state, folder, filename_pattern="diffusion_pytorch_model{suffix}.safetensors", max_shard_size=200)
    assert (folder / "diffusion_pytorch_model.safetensors.index.json").exists()
    yield folder, None


def of_transformers(folder):
    import torch
    import transformers
    torch.manual_seed(7)
    config = transformers.GPT2Config(vocab_size=16, n_positions=8, n_embd=8, n_layer=1, n_head=2)
    model = transformers.GPT2LMHeadModel(config)
    for name, size in (("whole", "1GB"), ("pieces", "2KB")):
        model.save_pretrained(folder / name, max_shard_size=size)
        yield folder / name, None
    model.to(torch.bfloat16).save_pretrained(folder / "bf16")
    yield folder / "bf16", None
    if int(transformers.__version__.split(".")[0]) < 5:  # later ones write safetensors alone
        model.float().save_pretrained(folder / "binary", max_shard_size="2KB", safe_serialization=False)
        yield folder / "binary", None


makers = {"torch": (of_torch, "torch"), "fsdp2": (of_fsdp2, "torch"), "torchvision": (of_torchvision, "torchvision"),
          "timm": (of_timm, "timm"), "lightning": (of_lightning, "lightning"), "accelerate": (of_accelerate, "accelerate"),
          "diffusers": (of_diffusers, "huggingface_hub"), "transformers": (of_transformers, "transformers"),
          "transformers5": (of_transformers, "transformers")}


def load_file(path, key):
    """As Python reads it."""
    import torch
    from safetensors.torch import load_file
    if path.suffix == ".safetensors":
        return load_file(path)
    held = torch.load(path, map_location="cpu", weights_only=True)
    return held if key is None else held[key]


def load(path, key):
    if not path.is_dir():
        return load_file(path, key)
    names = [file.name for file in path.iterdir()]
    index = [name for name in names if name.endswith(".index.json")]
    if index:
        pieces = set(json.loads((path / index[0]).read_text())["weight_map"].values())
    else:
        pieces = {"model.safetensors" if "model.safetensors" in names else "pytorch_model.bin"}
    return {name: value for piece in pieces for name, value in load_file(path / piece, None).items()}


def bits(tensor):
    import torch
    return tensor.detach().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def compare(path, key, found):
    wanted = load(path, key)
    assert found.keys() == wanted.keys() and found, (path, sorted(found.keys() ^ wanted.keys()))
    for name, value in wanted.items():
        got = found[name]
        assert got.dtype == value.dtype and got.shape == value.shape, (path, name, got.dtype, got.shape)
        assert bits(got).equal(bits(value)), (path, name)


def check(dump, path, expected, out):
    done = subprocess.run([dump, path, out], capture_output=True, text=True)
    if isinstance(expected, list):
        assert done.returncode == 1, (path, done)
        assert all(word in done.stderr for word in expected), (path, done.stderr)
        return
    assert done.returncode == 0, (path, done.stderr)
    from safetensors.torch import load_file
    compare(path, expected, load_file(out))


def of_other_python(python, library, folder):
    """What another python3 makes; it takes torch from this one."""
    import torch
    here = str(pathlib.Path(torch.__file__).parent.parent)
    done = subprocess.run([python, __file__, "--make", library, folder, here], check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("made "):
            path, expected = json.loads(line.removeprefix("made "))
            yield pathlib.Path(path), expected


def make(library, folder, packages):
    sys.path.append(packages)
    for path, expected in makers[library][0](pathlib.Path(folder)):
        print("made " + json.dumps([str(path), expected]))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def main():
    if sys.argv[1] == "--make":
        make(*sys.argv[2:])
        return
    dump, library = str(pathlib.Path(sys.argv[1]).absolute()), sys.argv[2]
    maker, module = makers[library]
    if not pathlib.Path(dump).exists():
        skip("make test-python builds what this test runs")
    for needed in ("torch", "safetensors", module):
        if importlib.util.find_spec(needed) is None:
            skip(f"python3 has no {needed}")
    other = os.environ.get("LOCKSTEP_TRANSFORMERS5") if library == "transformers5" else ""
    if other is None:
        skip("LOCKSTEP_TRANSFORMERS5 names no python3 with transformers 5")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "made"
        folder.mkdir()
        made = of_other_python(other, library, folder) if other else maker(folder)
        count = 0
        for path, expected in made:
            check(dump, path, expected, pathlib.Path(name) / "found.safetensors")
            count += 1
        assert count > 0
        print(f"{count} of {library}: the same bits, or refused by name")


if __name__ == "__main__":
    main()
