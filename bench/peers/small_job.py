"""Small jobs in PyTorch, as people run them by the dozen.

Usage: python3 bench/peers/small_job.py train [--steps 1200] [--seed 1]
       python3 bench/peers/small_job.py hold [--share 0.06] [--seconds 4] [--leave]
train: the text model of Lockstep's preset small (0.6 M parameters, 8 samples of 128 bytes per step) on random bytes.
hold: takes this share of the device's memory, piece by piece, keeps it so long and computes a little, and ends as
PyTorch does where there is not enough. --leave: a process in a session of its own does so, and stays behind. Both
print one JSON line.
"""
import argparse
import json
import os
import subprocess
import sys
import time

import torch


def train(asked, device):
    from text_model import TextModel

    torch.manual_seed(asked.seed)
    model = TextModel(256, 3, 128, 4, 128, gelu="tanh").to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, fused=device == "cuda")
    generator = torch.Generator().manual_seed(asked.seed)
    loss = None
    for _ in range(asked.steps):
        tokens = torch.randint(0, 256, (8, 129), generator=generator).to(device)
        with torch.autocast(device, torch.bfloat16):
            loss = model(tokens[:, :-1], tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"loss": loss.item(), "steps": asked.steps}


def hold(asked, device):
    total = torch.cuda.mem_get_info()[1] if device == "cuda" else 1 << 24
    free = torch.cuda.mem_get_info()[0] / total if device == "cuda" else 1.0
    pieces, piece = [], int(total * 0.02)
    while sum(map(len, pieces)) < asked.share * total:
        pieces.append(torch.ones(piece, dtype=torch.uint8, device=device))
        time.sleep(0.05)
    if asked.ready:
        open(asked.ready, "w").close()
    end = time.monotonic() + asked.seconds
    while time.monotonic() < end:
        pieces[0].sum().item()
        time.sleep(0.02)
    return {"held_gib": round(sum(map(len, pieces)) / 2**30, 3), "free_share_at_start": round(free, 3)}


def leave(asked):
    """Ends once another process holds the memory."""
    ready = os.path.join(os.environ.get("LOCKSTEP_OUT", "."), "ready")
    words = [word for word in sys.argv if word != "--leave"]
    child = subprocess.Popen([sys.executable, *words, "--ready", ready], start_new_session=True)
    while not os.path.exists(ready):
        if child.poll() is not None:
            sys.exit("the process to leave behind has ended")
        time.sleep(0.05)
    return {"left": True}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["train", "hold"])
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=0.06)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--leave", action="store_true")
    parser.add_argument("--ready", help="file to make once the memory is taken")
    asked = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if asked.leave:
        print(json.dumps(leave(asked)))
    else:
        print(json.dumps({"train": train, "hold": hold}[asked.what](asked, device)))


if __name__ == "__main__":
    main()
