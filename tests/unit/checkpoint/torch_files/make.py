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

small = {"a": torch.ones(2, 2).t(), "b": torch.tensor([1, 2])}
torch.save(small, corpus / "zip")
torch.save({"state_dict": small}, corpus / "nested")
torch.save(small, corpus / "legacy", _use_new_zipfile_serialization=False)
torch.save({"a": Evil()}, corpus / "evil")
