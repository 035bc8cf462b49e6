"""Writes what torchvision makes of boxes and features, for the tests of src/ops.

python3 make.py FOLDER; needs torch, torchvision 0.26 and safetensors.
"""
import pathlib
import sys

import torch
import torchvision
from safetensors.torch import save_file
from torchvision.models.detection._utils import BoxCoder
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.ops import boxes as box_ops

folder = pathlib.Path(sys.argv[1])
generator = torch.Generator().manual_seed(7)


def draw(*sizes):
    return torch.rand(*sizes, generator=generator)


def drawn_boxes(count, extent):
    """Corners in and around a square of this extent."""
    centre, size = draw(count, 2) * extent, draw(count, 2) ** 2 * extent
    return torch.cat([centre - size / 2, centre + size / 2], 1)


def crowded_boxes(count, extent):
    """Corners of boxes most of which overlap others much."""
    centre, size = draw(count, 2) * extent, (0.2 + 0.3 * draw(count, 2)) * extent
    return torch.cat([centre - size / 2, centre + size / 2], 1)


def roi_align():
    """Each case by its number: its options, its result, and the gradient of features."""
    features = torch.randn(3, 3, 9, 11, generator=generator)
    odd = torch.tensor([
        [0, 0, 176, 144],        # the whole map
        [-50, -40, 20, 30],      # partly outside
        [300, 300, 400, 380],    # outside
        [-400, -300, 900, 800],  # around it
        [40, 40, 40, 40],        # a point
        [60, 50, 30, 20],        # corners exchanged
        [16, 32, 48, 64],        # on cells
        [-16, -16, 0, 0],        # at the edge
        [175, 143, 176, 144],    # a pixel
        [2e4, 10, 3e4, 20],
    ])
    boxes = torch.cat([odd, drawn_boxes(14, 170)])
    pictures = torch.randint(0, 3, (len(boxes),), generator=generator)
    tensors = {"features": features, "boxes": boxes, "pictures": pictures}
    cases = [(7, 7, 1 / 16, 2, True), (7, 7, 1 / 16, 2, False), (3, 5, 1 / 16, 0, True), (3, 5, 1 / 16, 0, False),
             (1, 1, 1 / 16, 0, True), (2, 2, 1 / 16, 3, True), (4, 2, 1 / 15.5, 1, True), (2, 3, 1, 0, True)]
    rois = torch.cat([pictures[:, None].float(), boxes], 1)
    for number, (height, width, scale, sampling, aligned) in enumerate(cases):
        leaf = features.clone().requires_grad_()
        out = torchvision.ops.roi_align(leaf, rois, (height, width), scale, sampling or -1, aligned)
        # A gradient that differs from place to place, and that the tests make again.
        out.backward(torch.arange(out.numel()).double().mul(0.7).sin().float().view_as(out))
        tensors[f"{number}.options"] = torch.tensor([height, width, scale, sampling, aligned], dtype=torch.float64)
        tensors[f"{number}.out"] = out.detach()
        tensors[f"{number}.of_features"] = leaf.grad
    save_file(tensors, folder / "roi_align.safetensors")


def nms():
    """Each case by its name: boxes, scores, groups or none, the threshold, and what was kept."""
    tensors = {}

    def add(name, boxes, scores, threshold, groups=None):
        tensors[f"{name}.boxes"], tensors[f"{name}.scores"] = boxes.clone(), scores
        tensors[f"{name}.threshold"] = torch.tensor(threshold, dtype=torch.float64)
        if groups is None:
            kept = box_ops.nms(boxes, scores, threshold)
        else:
            tensors[f"{name}.groups"] = groups
            kept = box_ops._batched_nms_vanilla(boxes, scores, groups, threshold)
            assert kept.equal(box_ops._batched_nms_coordinate_trick(boxes, scores, groups, threshold))
        tensors[f"{name}.kept"] = kept
        print(f"nms {name}: {len(kept)} of {len(boxes)}")

    for count, threshold in ((1, 0.5), (63, 0.3), (64, 0.5), (65, 0.7), (300, 0.4), (300, 0.9)):
        add(f"drawn-{count}-{threshold}", crowded_boxes(count, 100), draw(count), threshold)
    add("groups", crowded_boxes(400, 60), draw(400), 0.3, torch.randint(0, 5, (400,), generator=generator))
    # IoU of exactly a half, a third and what is nearest to 0.3, at these thresholds; equal scores; empty boxes.
    line = torch.tensor([[0, 0, 2, 1], [0, 0, 1, 1], [10, 0, 13, 1], [10, 0, 11, 1], [20, 0, 30, 1], [20, 0, 23, 1],
                         [5, 5, 5, 5], [5, 5, 5, 5], [9, 9, 8, 8.0]])
    for threshold in (0.5, 1 / 3, 0.3, 0.0, 1.0):
        add(f"exact-{threshold:.3f}", line, torch.tensor([9, 8, 7, 6, 5, 4, 3, 2, 1.0]), threshold)
    same = crowded_boxes(100, 40)
    add("whole-numbers", same.round(), torch.randperm(100, generator=generator).float(), 0.5)
    save_file(tensors, folder / "nms.safetensors")


def boxes():
    tensors = {"a": drawn_boxes(12, 100).double(), "b": drawn_boxes(9, 100).double()}
    a, b = tensors["a"], tensors["b"]
    tensors["areas"] = box_ops.box_area(a)
    tensors["ious"] = box_ops.box_iou(a, b)
    tensors["giou_losses"] = torchvision.ops.generalized_box_iou_loss(a[:9], b)
    tensors["clipped"] = box_ops.clip_boxes_to_image(a, (60, 80))
    tensors["xywh"] = box_ops.box_convert(a, "xyxy", "xywh")
    coder = BoxCoder((10.0, 10.0, 5.0, 5.0))
    tensors["encoded"] = coder.encode_single(a[:9], b)
    tensors["deltas"] = torch.randn(9, 4, generator=generator).double() * 8
    tensors["deltas"][0, 2] = 100  # clamped
    tensors["decoded"] = coder.decode_single(tensors["deltas"], b)
    for number, (sizes, ratios, cells, stride) in enumerate((
            ((32, 64, 128, 256, 512), (0.5, 1.0, 2.0), (3, 4), 16),
            ((16, 23, 45.5), (0.4, 1.3), (2, 5), 7))):
        grid = AnchorGenerator(((*sizes,),), ((*ratios,),))
        grid.set_cell_anchors(torch.float32, torch.device("cpu"))
        anchors = grid.grid_anchors([list(cells)], [[torch.tensor(stride), torch.tensor(stride)]])[0]
        tensors[f"anchors.{number}"] = anchors
    save_file(tensors, folder / "boxes.safetensors")


roi_align()
nms()
boxes()
