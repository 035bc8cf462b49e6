"""Boxes, RoIAlign and non-maximum suppression for fewshot_model.py, by torchvision or in plain PyTorch.

Usage: python3 bench/peers/fewshot_ops.py      compares the two; needs torchvision
The plain ones have shapes that follow from their arguments' shapes alone and never wait for the device, so that a CUDA graph
can hold them.
"""
import math

import torch

try:
    from torchvision import ops as vision
except ImportError:
    vision = None

ROUNDS = 16  # of plain suppression


def areas(boxes):
    return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])


def overlap_areas(a, b):
    """a [..., A, 4], b [..., B, 4]: [..., A, B]."""
    a, b = a[..., :, None, :], b[..., None, :, :]
    return (torch.minimum(a[..., 2:], b[..., 2:]) - torch.maximum(a[..., :2], b[..., :2])).clamp_min(0).prod(-1)


def ious(a, b):
    both = overlap_areas(a, b)
    return both / (areas(a)[..., :, None] + areas(b)[..., None, :] - both).clamp_min(1e-12)


def centred(boxes):
    size = boxes[..., 2:] - boxes[..., :2]
    return boxes[..., :2] + 0.5 * size, size


def encode(boxes, anchors, weights):
    (centre, size), (anchor_centre, anchor_size) = centred(boxes), centred(anchors)
    return torch.cat([weights[0] * (centre - anchor_centre) / anchor_size, weights[1] * torch.log(size / anchor_size)], -1)


def decode(deltas, anchors):
    centre, size = centred(anchors)
    centre = deltas[..., :2] * size + centre
    half = 0.5 * deltas[..., 2:].clamp_max(math.log(1000 / 16)).exp() * size
    return torch.cat([centre - half, centre + half], -1)


def grid_anchors(sizes, ratios, cells, stride, device):
    """[cells * cells * anchors, 4], cell by cell."""
    roots = torch.tensor(ratios).sqrt()
    across, down = ((factor[:, None] * torch.tensor(sizes)).flatten() for factor in (1 / roots, roots))
    about_0 = (torch.stack([-across, -down, across, down], -1) / 2).round()
    steps = torch.arange(cells) * float(stride)
    y, x = torch.meshgrid(steps, steps, indexing="ij")
    return (torch.stack([x, y, x, y], -1).view(-1, 1, 4) + about_0).view(-1, 4).to(device)


def axis_weights(low, high, cells, bins, samples=2):
    """How much each cell counts in each bin along one axis, [B, R, bins, cells]: the mean of linearly interpolated points."""
    places = (torch.arange(bins * samples, device=low.device, dtype=low.dtype) + 0.5) / (bins * samples)
    points = low[..., None] + (high - low)[..., None] * places - 0.5
    seen = (points >= -1) & (points <= cells)
    points = points.clamp(0, cells - 1)
    distances = points[..., None] - torch.arange(cells, device=low.device, dtype=low.dtype)
    weights = (1 - distances.abs()).clamp_min(0) * seen[..., None]
    return weights.unflatten(-2, (bins, samples)).mean(-2)


def plain_roi_align(maps, boxes, scale, bins=7):
    """RoIAlign is linear along each axis by itself, so two products do it, both ways, without atomics."""
    batch, channels, height, width = maps.shape
    count = boxes.shape[1]
    of_rows = axis_weights(boxes[..., 1] * scale, boxes[..., 3] * scale, height, bins).to(maps.dtype)
    of_columns = axis_weights(boxes[..., 0] * scale, boxes[..., 2] * scale, width, bins).to(maps.dtype)
    rows = of_rows.flatten(1, 2) @ maps.permute(0, 2, 3, 1).reshape(batch, height, width * channels)
    rows = rows.view(batch, count, bins, width, channels)
    return (of_columns[:, :, None] @ rows).flatten(0, 1).permute(0, 3, 1, 2)


def roi_align(maps, boxes, scale, by):
    """maps [B, C, h, w], boxes [B, R, 4] in pixels: [B * R, C, 7, 7]. by: torchvision or plain."""
    if by == "plain":
        return plain_roi_align(maps, boxes, scale)
    place = torch.arange(boxes.shape[0], device=boxes.device, dtype=boxes.dtype).view(-1, 1, 1).expand(-1, boxes.shape[1], 1)
    rows = torch.cat([place, boxes], -1).flatten(0, 1)
    return vision.roi_align(maps, rows, 7, spatial_scale=scale, sampling_ratio=2, aligned=True)


def plain_keep(boxes, threshold):
    """A box stays unless one before it that stays overlaps it. Each round settles the next link of every chain of overlaps."""
    dtype = torch.float16 if boxes.is_cuda else torch.float32  # counts of at most some thousand
    overlaps = (ious(boxes, boxes) > threshold).tril(-1).to(dtype)
    keep = torch.ones_like(boxes[..., :1], dtype=dtype)
    with torch.autocast(boxes.device.type, enabled=False):
        for _ in range(ROUNDS):
            keep = (overlaps @ keep < 0.5).to(dtype)
    return keep[..., 0] > 0.5


def vision_keep(boxes, scores, threshold):
    sets = torch.arange(boxes.shape[0], device=boxes.device)[:, None].expand(-1, boxes.shape[1])
    kept = vision.batched_nms(boxes.flatten(0, 1), scores.flatten(), sets.flatten(), threshold)
    keep = torch.zeros(scores.numel(), dtype=torch.bool, device=boxes.device)
    keep[kept] = True
    return keep.view_as(scores)


def keep_best(boxes, scores, threshold, count, by):
    """boxes [Q, R, 4] by score downwards: the first `count` that stay, [Q, count, 4], and which there are, [Q, count]."""
    keep = plain_keep(boxes, threshold) if by == "plain" else vision_keep(boxes, scores, threshold)
    most = boxes.shape[1]
    places = torch.where(keep, torch.arange(most, device=boxes.device), most)
    first = places.topk(min(count, most), dim=1, largest=False, sorted=True).values
    known = first < most
    found = boxes.gather(1, first.clamp_max(most - 1)[..., None].expand(-1, -1, 4))
    return found * known[..., None], known


def compare():
    torch.manual_seed(1)
    maps = torch.randn(3, 8, 20, 17, requires_grad=True)
    corner, size = 300 * torch.rand(3, 500, 2) - 20, 150 * torch.rand(3, 500, 2)
    boxes = torch.cat([corner, corner + size], -1)
    ours, theirs = (roi_align(maps, boxes, 1 / 16, by) for by in ("plain", "torchvision"))
    wanted = torch.randn_like(theirs)
    gradients = [torch.autograd.grad((pooled * wanted).sum(), maps)[0] for pooled in (ours, theirs)]
    print(f"RoIAlign: {(ours - theirs).abs().max():.1e}, its gradient: {(gradients[0] - gradients[1]).abs().max():.1e}")
    scores = torch.rand(3, 500).sort(1, descending=True).values
    for threshold in (0.3, 0.5, 0.7):
        kept = [keep_best(boxes, scores, threshold, 64, by)[0] for by in ("plain", "torchvision")]
        print(f"suppression at {threshold}: {(kept[0] != kept[1]).any(-1).sum().item()} of {kept[0].shape[0] * 64} boxes differ")


if __name__ == "__main__":
    compare()
