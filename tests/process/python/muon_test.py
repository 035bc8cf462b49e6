"""optimizer.kind=muon makes the same bits as torch.optim.Muon of the pinned torch.

Usage: muon_test.py DUMP-MUON. Exits 77, saying why, where Python lacks such a torch.
       muon_test.py --record FILE writes what torch makes, for tests/unit/training/muon_test.cpp.
Weights and gradients are those of tests/fakes/muon_cases.h.
"""
import json
import subprocess
import sys

version = "2.11"
rates = [1 / 64, 1 / 32, 1 / 128]
# Of the model's parameters those that muon updates: place, name, shape.
matrices = [(1, "square", (6, 6)), (2, "tall", (9, 4)), (4, "wide", (4, 9)), (5, "larger", (20, 12))]
cases = [("match_rms_adamw", True), ("match_rms_adamw", False), ("original", True), ("original", False)]


def sawtooth(torch, shape, factor, shift, modulus, scale):
    count = shape[0] * shape[1]
    values = [((factor * i + shift) % modulus - modulus // 2) / scale for i in range(count)]
    return torch.tensor(values, dtype=torch.float32).view(shape)


def bits(torch, tensor):
    return tensor.detach().float().contiguous().view(-1).view(torch.int32).tolist()


def of_case(torch, adjust, nesterov):
    weights = {name: torch.nn.Parameter(sawtooth(torch, shape, 37, 5 * place, 101, 64)) for place, name, shape in matrices}
    optimizer = torch.optim.Muon(weights.values(), lr=rates[0], weight_decay=0.1, momentum=0.95, nesterov=nesterov, adjust_lr_fn=adjust)
    for step, rate in enumerate(rates):
        optimizer.param_groups[0]["lr"] = rate
        for place, name, shape in matrices:
            weights[name].grad = sawtooth(torch, shape, 53, 17 * step + 29 * place, 127, 32)
        optimizer.step()
    momentum = {name: optimizer.state[weight]["momentum_buffer"] for name, weight in weights.items()}
    return {what: {name: bits(torch, one) for name, one in tensors.items()} for what, tensors in (("weights", weights), ("momentum", momentum))}


def of_torch(torch):
    factor = sawtooth(torch, (20, 12), 37, 0, 101, 64).bfloat16()
    machine = {"capability": torch.backends.cpu.get_cpu_capability(), "product": bits(torch, factor @ factor.T)}
    return {"machine": machine, "cases": [of_case(torch, *case) for case in cases]}


def main():
    try:
        import torch
    except ImportError:
        print("skipped: Python has no torch")
        return 77
    if not torch.__version__.startswith(version + "."):
        print(f"skipped: torch must be {version}, but is {torch.__version__}")
        return 77
    theirs = of_torch(torch)
    if sys.argv[1] == "--record":
        with open(sys.argv[2], "w") as file:
            json.dump(theirs, file, separators=(",", ":"))
            file.write("\n")
        return 0
    ours = json.loads(subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout)
    if ours["machine"] != theirs["machine"]:
        print("skipped: Python's torch multiplies otherwise than Lockstep's LibTorch on this processor")
        return 77
    for case, mine, other in zip(cases, ours["cases"], theirs["cases"]):
        for what in ("weights", "momentum"):
            for name, expected in other[what].items():
                assert mine[what][name] == expected, f"{case}: {what} of {name} differ"
    print(f"{len(cases)} cases of {len(matrices)} matrices have the same bits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
