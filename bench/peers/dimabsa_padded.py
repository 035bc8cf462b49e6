"""Memory and time of a step of the dimabsa recipe's network with every sentence padded to the batch's most tuples.

Usage: python3 bench/peers/dimabsa_padded.py TUPLES… [--tokens N] [--steps S]
TUPLES: how many each sentence of the batch has ("26 1 2 1"). As the original does it: the two queries for all aspects and
all opinions on [sentences, tokens], the other four on [sentences x most tuples, tokens], and one backward of the sum. Prints one
JSON line.
"""
import argparse
import json
import time

import torch

import dimabsa_model as dimabsa


def padded_batch(sentences, most, tokens, device):
    for number in range(dimabsa.PASSES):
        rows = sentences * (1 if number < 2 else most)
        yield (number, torch.randint(0, dimabsa.VOCABULARY, (rows, tokens), device=device),
               torch.ones(rows, tokens, dtype=torch.long, device=device),
               (torch.rand(rows, tokens, 2, device=device) > 0.98).long(), 1 + 8 * torch.rand(rows, device=device))


def make_step(sentences, most, tokens, device):
    model = dimabsa.Network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = sum(model.one_pass(*fields) for fields in padded_batch(sentences, most, tokens, device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tuples", type=int, nargs="+")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--steps", type=int, default=5)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    step = make_step(len(arguments.tuples), max(arguments.tuples), arguments.tokens, torch.device("cuda"))
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(arguments.steps):
        step()
    torch.cuda.synchronize()
    print(json.dumps({"tuples": arguments.tuples, "tokens": arguments.tokens,
                      "step_ms": round(1e3 * (time.perf_counter() - begin) / arguments.steps, 2),
                      "mem_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2)}))


if __name__ == "__main__":
    main()
