"""Writes the files of torch.save that the tests read, with Python's torch.

python3 make.py FOLDER CORPUS; needs torch and safetensors.
"""
import collections
import os
import pathlib
import sys

import torch
from safetensors.torch import save_file

folder, corpus = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def state_dict():
    base = torch.arange(24, dtype=torch.float32) / 8
    state = collections.OrderedDict()
    state["f32"] = torch.nn.Parameter(base[:6].clone().reshape(2, 3))
    state["f16"] = torch.tensor([0.5, -2.0, 65504.0]).half()
    state["bf16"] = torch.tensor([[1.0], [-3.0]]).bfloat16()
    state["f64"] = torch.tensor([1e300, -0.1], dtype=torch.float64)
    state["i64"] = torch.tensor(2**40)
    state["i32"] = torch.tensor([-5, 7], dtype=torch.int32)
    state["i16"] = torch.tensor([-300], dtype=torch.int16)
    state["i8"] = torch.tensor([-3], dtype=torch.int8)
    state["u8"] = torch.tensor([250, 1, 2], dtype=torch.uint8)
    state["bool"] = torch.tensor([True, False, True])
    state["shared.whole"] = base.reshape(4, 6)
    state["shared.part"] = base[7:13]
    state["shared.transposed"] = base.reshape(4, 6).t()
    state["shared.column"] = base.reshape(4, 6)[:, 2]
    state["expanded"] = torch.tensor([[3.0]]).expand(2, 4)
    state["empty"] = torch.zeros(0, 3)
    state._metadata = {"": {"version": 1}}
    return state


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/executed-by-pickle",)


state = state_dict()
torch.save(state, folder / "zip.pt")
torch.save(state, folder / "legacy.pt", _use_new_zipfile_serialization=False)
torch.save(state, folder / "protocol4.pt", pickle_protocol=4)
torch.save({"epoch": 3, "lr": 0.1, "none": None, "model": state}, folder / "nested.pt")
torch.save(torch.nn.Linear(2, 2), folder / "module.pt")
torch.save({"weight": torch.zeros(1), "more": Evil()}, folder / "evil.pt")
torch.save({"weight": torch.zeros(1), "more": Evil()}, folder / "evil_legacy.pt",
           _use_new_zipfile_serialization=False)
torch.save({"epoch": 3}, folder / "no_tensors.pt")
save_file({name: tensor.detach().clone().contiguous() for name, tensor in state.items()},
          folder / "expected.safetensors")

# What torch.load(weights_only=True) opens.
few = {"w": torch.arange(6, dtype=torch.float32).reshape(2, 3), "b": torch.tensor([0.5, -2.0])}
beside = {"device": torch.device("cuda", 1), "dtype": torch.float8_e4m3fn, "layout": torch.sparse_coo, "set": {1, 2},
          "counter": collections.Counter([1, 1, 2]), "bytes": b"abc", "array": bytearray(b"x"), "complex": 1j,
          "size": torch.Size([1, 2]), "best_val_loss": torch.tensor(1.5), "rng": torch.get_rng_state(),
          "sparse": torch.eye(2).to_sparse(), "nested": {"a": torch.zeros(3), "b": torch.zeros(3), "c": torch.zeros(3)}}
torch.save({**beside, "model": few}, folder / "beside.pt")
torch.save({**beside, "model": few}, folder / "beside4.pt", pickle_protocol=4)
torch.save({"net": few, "acc": torch.tensor(76.3)}, folder / "other_key.pt")
torch.save({"model_state": few, "acc": torch.tensor(76.3)}, folder / "model_state.pt")

read = {"parameter": torch.nn.Parameter(few["w"].clone()), "tensor": few["b"].clone(), "e4m3": few["w"].to(torch.float8_e4m3fn)[:, 1:],
        "e5m2": few["b"].to(torch.float8_e5m2), "negated": torch._neg_view(few["w"]).t(), "imaginary": (few["b"] * 1j).conj().imag,
        "negated_parameter": torch.nn.Parameter(torch._neg_view(few["b"]))}
read["parameter"].no_weight_decay = True
read["tensor"].tags = {"a"}
torch.save(read, folder / "read.pt")
torch.save(read, folder / "read_legacy.pt", _use_new_zipfile_serialization=False)
save_file({name: tensor.detach().resolve_neg().clone().contiguous() for name, tensor in read.items()},
          folder / "expected_read.safetensors")
torch.save({"w": few["w"], "sparse": torch.eye(2).to_sparse(), "csr": torch.eye(2).to_sparse_csr(),
            "quantized": torch.quantize_per_tensor(few["b"], 0.1, 0, torch.qint8), "meta": torch.empty(2, device="meta"),
            "complex": torch.zeros(2, dtype=torch.complex64), "conjugate": torch.zeros(2, dtype=torch.complex64).conj(),
            "ragged": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])}, folder / "faults.pt")
torch.jit.script(torch.nn.Linear(2, 1)).save(folder / "script.pt")


def save_shard(path):
    """What a rank of FSDP2 saves of its state dict."""
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    from torch.distributed.tensor import DeviceMesh, Shard, distribute_tensor
    torch.save({"w": distribute_tensor(few["w"], DeviceMesh("cpu", [0]), [Shard(0)])}, path)
    torch.distributed.destroy_process_group()


save_shard(folder / "shard.pt")

small = {"a": torch.ones(2, 2).t(), "b": torch.tensor([1, 2])}
torch.save(small, corpus / "zip")
torch.save({"state_dict": small}, corpus / "nested")
torch.save(small, corpus / "legacy", _use_new_zipfile_serialization=False)
torch.save({"a": Evil()}, corpus / "evil")
torch.save({"model": small, "best": torch.ones(()), "device": torch.device("cpu"), "set": {1}}, corpus / "beside")
kept = {"p": torch.nn.Parameter(torch.ones(2)), "t": torch.ones(2), "f": torch.ones(3).to(torch.float8_e4m3fn),
        "n": torch._neg_view(torch.ones(2)), "s": torch.eye(2).to_sparse(), "m": torch.empty(1, device="meta")}
kept["p"].kind = kept["t"].kind = 1
torch.save(kept, corpus / "weights_only")
torch.save(kept, corpus / "weights_only_legacy", _use_new_zipfile_serialization=False)
torch.save({"model": small, "set": {1, 2}, "bytes": bytearray(b"x")}, corpus / "protocol5", pickle_protocol=5)
torch.jit.script(torch.nn.Linear(1, 1)).save(corpus / "script")
