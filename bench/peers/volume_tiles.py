"""A whole volume through the volume recipe's network in tiles of 64³ with half overlap, in compiled PyTorch.

Usage: python3 bench/peers/volume_tiles.py EXTENT BATCH REPEATS [eager]. Prints a JSON line each time. Voxels begin on
the host and the mask ends there; sums stay on the GPU, and tiles count by Gaussian weights.
"""
import json
import sys
import time

import torch

from volume_model import VolumeModel

EDGE = 64


def main():
    extent, batch, repeats = (int(word) for word in sys.argv[1:4])
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    device = torch.device("cuda")
    model = VolumeModel().to(device, memory_format=torch.channels_last_3d).eval()
    net = model if "eager" in sys.argv else torch.compile(model)
    image = torch.randint(0, 256, (extent,) * 3, dtype=torch.uint8)
    places = torch.arange(EDGE, device=device) - (EDGE - 1) / 2
    line = torch.exp(-places**2 / (2 * (EDGE / 8) ** 2)).clamp(min=0.001)
    weight = line[:, None, None] * line[:, None] * line
    starts = sorted({*range(0, extent - EDGE, EDGE // 2), extent - EDGE})
    tiles = [(z, y, x) for z in starts for y in starts for x in starts]
    for run in range(repeats):
        begin = time.perf_counter()
        with torch.inference_mode():
            volume = image.to(device).float() / 255
            sums, weights = torch.zeros_like(volume), torch.zeros_like(volume)
            for first in range(0, len(tiles), batch):
                some = [(slice(z, z + EDGE), slice(y, y + EDGE), slice(x, x + EDGE)) for z, y, x in tiles[first : first + batch]]
                x = torch.stack([volume[at] for at in some])[:, None].contiguous(memory_format=torch.channels_last_3d)
                if len(some) < batch:
                    x = torch.cat([x, x.new_zeros((batch - len(some),) + x.shape[1:])])
                with torch.autocast("cuda", dtype=torch.float16):
                    shares = net(x).float().sigmoid()
                for at, share in zip(some, shares):
                    sums[at] += share[0] * weight
                    weights[at] += weight
            mask = (sums / weights > 0.5).byte().cpu()
        seconds = time.perf_counter() - begin
        print(json.dumps({"extent": extent, "batch": batch, "run": run, "seconds": round(seconds, 4),
                          "foreground": int(mask.sum())}), flush=True)


if __name__ == "__main__":
    main()
