"""The fewshot recipe's detector in PyTorch: a ResNet-50 to stride 16, Attention-RPN, RoIAlign, a head over regions, prototypes.

episode: the same network, matching and losses as Lockstep's. Rows count by the share that drawing 256 anchors and 128 regions at
random would give them on average, as there: that is faster here too than drawing.
trunk: a ResNet-50 with a map of similarities and no regions, trained on targets that are maps.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

import fewshot_ops as ops

STRIDE, NECK, HIDDEN, EMBEDDING = 16, 256, 1024, 512
SIZES, RATIOS = [16.0, 32.0, 64.0, 128.0, 256.0], [0.5, 1.0, 2.0]
ANCHORS = len(SIZES) * len(RATIOS)
BEFORE_SUPPRESSION, PROPOSALS = 1000, 64
MEAN, DEVIATION = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


class Block(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.downsample = None
        if inputs != 4 * width or stride > 1:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = F.relu(self.bn2(self.conv2(y)), inplace=True)
        y = self.bn3(self.conv3(y))
        return F.relu(y.add_(x if self.downsample is None else self.downsample(x)), inplace=True)


def stage(inputs, width, blocks, stride):
    return nn.Sequential(Block(inputs, width, stride), *(Block(4 * width, width, 1) for _ in range(blocks - 1)))


class Trunk(nn.Sequential):
    """ResNet-50 without its last stage."""

    def __init__(self, width=64):
        super().__init__(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(True), nn.MaxPool2d(3, 2, 1),
                         stage(width, width, 3, 1), stage(4 * width, 2 * width, 4, 2), stage(8 * width, 4 * width, 6, 2))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


class Net(nn.Module):
    """With the statistics of a batch, whose running means are kept, or with the running ones (frozen)."""

    def __init__(self, frozen):
        super().__init__()
        self.frozen = frozen

    def train(self, mode=True):
        super().train(mode)
        for module in self.modules():
            if self.frozen and isinstance(module, nn.BatchNorm2d):
                module.training = False
        return self


def of_length_1(rows):
    return F.normalize(rows.float(), dim=1, eps=1e-6)


def augmented(pictures, boxes, numbers):
    """u8 to f32: flipped, brighter or darker, of more or less contrast. numbers [B, 3] of 0 to 1; boxes [B, ..., 4] turn too."""
    flips, brightness, contrast = (part[:, None, None, None] for part in numbers.unbind(1))
    turned = torch.stack([pictures.shape[3] - boxes[..., 2], boxes[..., 1], pictures.shape[3] - boxes[..., 0], boxes[..., 3]], -1)
    boxes = torch.where((numbers[:, 0] < 0.5).view(-1, *[1] * (boxes.dim() - 1)), turned, boxes)
    x = torch.where(flips < 0.5, pictures.flip(3), pictures).float() * (0.8 + 0.4 * brightness)
    mean = x.mean((1, 2, 3), keepdim=True)
    return (x - mean) * (0.8 + 0.4 * contrast) + mean, boxes


def row_weights(positive, negative, drawn, share):
    positives, negatives = positive.sum(-1, keepdim=True).float(), negative.sum(-1, keepdim=True).float()
    of_positives = positives.clamp_max(drawn * share)
    of_negatives = torch.minimum(negatives, drawn - of_positives)
    return (positive * (of_positives / positives.clamp_min(1)) + negative * (of_negatives / negatives.clamp_min(1))) / drawn


def lies_in_ignored(rows, boxes, labels):
    inside = ops.overlap_areas(rows, boxes).masked_fill((labels != -2)[:, None], 0).amax(-1)
    return inside > 0.5 * ops.areas(rows).clamp_min(1e-6)


def pick(boxes, index):
    """boxes [Q, M, 4], index [Q, ...]: the boxes that it names."""
    return boxes.gather(1, index.flatten(1)[..., None].expand(-1, -1, 4)).view(*index.shape, 4)


def box_cost(deltas, anchors, positive, weight, box, coding, beta):
    wanted = torch.where(positive[..., None], ops.encode(box, anchors, coding), deltas.detach())
    return (F.smooth_l1_loss(deltas, wanted, reduction="none", beta=beta).sum(-1) * weight * positive).sum()


class Detector(Net):
    def __init__(self, classes, frozen, roi, suppression, width=64):
        super().__init__(frozen)
        self.classes, self.roi, self.suppression = classes, roi, suppression
        self.trunk, self.neck = Trunk(width), nn.Conv2d(16 * width, NECK, 1)
        self.proposal = nn.Conv2d(NECK, NECK, 3, padding=1)
        self.objectness, self.deltas = nn.Conv2d(NECK, ANCHORS, 1), nn.Conv2d(NECK, 4 * ANCHORS, 1)
        self.hidden, self.embedding, self.box = nn.Linear(NECK * 49, HIDDEN), nn.Linear(HIDDEN, EMBEDDING), nn.Linear(HIDDEN, 4)
        self.background, self.scale = nn.Parameter(torch.randn(EMBEDDING)), nn.Parameter(torch.tensor(math.log(10.0)))
        # Made here, not in the step: a graph may not hold copies from the host.
        for name, values in (("mean", MEAN), ("deviation", DEVIATION)):
            self.register_buffer(name, torch.tensor(values).view(1, 3, 1, 1), persistent=False)
        for module, deviation in ((self.objectness, 0.01), (self.deltas, 0.001), (self.box, 0.001)):
            nn.init.normal_(module.weight, 0, deviation)

    def embed(self, pooled):
        hidden = F.relu(self.hidden(pooled.flatten(1)), inplace=True)
        return of_length_1(self.embedding(hidden)), hidden

    def codes(self, maps, boxes):
        def of_class(rows):
            return rows.view(self.classes, -1, rows.shape[1]).mean(1)
        pooled = ops.roi_align(maps, boxes[:, None], 1 / STRIDE, self.roi)
        kernels = of_length_1(of_class(pooled.mean((2, 3)))) * math.sqrt(NECK)
        return kernels.to(maps.dtype), of_length_1(of_class(self.embed(pooled)[0]))

    def propose(self, maps, kernels):
        queries = len(maps)
        attended = (maps[:, None] * kernels[None, :, :, None, None]).flatten(0, 1)
        x = F.relu(self.proposal(attended.contiguous(memory_format=torch.channels_last)), inplace=True)
        objectness = self.objectness(x).permute(0, 2, 3, 1).reshape(queries, self.classes, -1).float()
        return objectness, self.deltas(x).permute(0, 2, 3, 1).reshape(queries, self.classes, -1, 4).float()

    @torch.no_grad()
    def best(self, anchors, objectness, deltas, size):
        scores, index = objectness.flatten(1).topk(min(BEFORE_SUPPRESSION, objectness[0].numel()), 1)
        boxes = ops.decode(pick(deltas.flatten(1, 2), index), anchors[index % len(anchors)]).clamp(0, size)
        return ops.keep_best(boxes, scores, 0.7, PROPOSALS, self.suppression)

    @torch.no_grad()
    def match_anchors(self, anchors, boxes, labels):
        own = labels[:, None, None] == torch.arange(self.classes, device=labels.device)[None, :, None, None]  # [Q, N, 1, M]
        iou = ops.ious(anchors[None], boxes)[:, None].masked_fill(~own, 0)  # [Q, N, P, M]
        best, which = iou.max(-1)
        best_of_box = iou.amax(2, keepdim=True)
        forced, forced_to = ((iou == best_of_box) & (best_of_box > 1e-3)).byte().max(-1)
        positive = (best >= 0.7) | (forced > 0)
        negative = (best < 0.3) & ~positive & ~lies_in_ignored(anchors[None], boxes, labels)[:, None]
        box = pick(boxes, torch.where(forced > 0, forced_to, which))
        return positive, row_weights(positive, negative, 256, 0.5), box

    @torch.no_grad()
    def match_regions(self, regions, known, boxes, labels):
        best, which = ops.ious(regions, boxes).masked_fill((labels < 0)[:, None], 0).max(-1)
        positive = (best >= 0.5) & known
        negative = known & ~positive & ~lies_in_ignored(regions, boxes, labels)
        label = torch.where(positive, labels.gather(1, which), self.classes)
        return positive, row_weights(positive, negative, 128, 0.25), pick(boxes, which), label

    def forward(self, supports, support_boxes, queries, boxes, labels, numbers):
        size = queries.shape[3]
        of_supports, of_queries = numbers.split([len(supports), len(queries)])
        supports, support_boxes = augmented(supports, support_boxes, of_supports)
        queries, boxes = augmented(queries, boxes, of_queries)
        pictures = ((torch.cat([supports, queries]) - self.mean) / self.deviation).contiguous(memory_format=torch.channels_last)
        maps = F.relu(self.neck(self.trunk(pictures)), inplace=True)
        of_supports, maps = maps.split([len(supports), len(queries)])
        kernels, prototypes = self.codes(of_supports, support_boxes)
        objectness, deltas = self.propose(maps, kernels)
        anchors = self.anchors(maps.shape[2], maps.device)
        positive, weight, wanted = self.match_anchors(anchors, boxes, labels)
        cost = (F.binary_cross_entropy_with_logits(objectness, positive.float(), reduction="none") * weight).sum() / self.classes
        cost = cost + box_cost(deltas, anchors, positive, weight, wanted, (1, 1), 1 / 9) / self.classes
        proposals, known = self.best(anchors, objectness.detach(), deltas.detach(), size)
        regions, known = torch.cat([proposals, boxes], 1), torch.cat([known, labels >= 0], 1)
        positive, weight, wanted, label = self.match_regions(regions, known, boxes, labels)
        vectors, hidden = self.embed(ops.roi_align(maps, regions, 1 / STRIDE, self.roi))
        with torch.autocast(maps.device.type, enabled=False):
            columns = torch.cat([prototypes, of_length_1(self.background[None])])
            logits = vectors @ columns.t() * self.scale.exp()
        cost = cost + (F.cross_entropy(logits, label.flatten(), reduction="none") * weight.flatten()).sum()
        region_deltas = self.box(hidden).float().view_as(regions)
        return (cost + box_cost(region_deltas, regions, positive, weight, wanted, (10, 5), 1)) / len(queries)

    def anchors(self, cells, device):
        if not hasattr(self, "made_anchors"):
            self.register_buffer("made_anchors", ops.grid_anchors(SIZES, RATIOS, cells, STRIDE, device), persistent=False)
        return self.made_anchors


class Similarity(Net):
    """A trunk, and boxes from a map of similarities alone."""

    def __init__(self, classes, frozen, width=64):
        super().__init__(frozen)
        self.classes = classes
        self.trunk, self.neck = Trunk(width), nn.Conv2d(16 * width, NECK, 1)
        self.head = nn.Sequential(nn.Conv2d(NECK, NECK, 3, padding=1), nn.ReLU(True), nn.Conv2d(NECK, 5, 1))

    def forward(self, supports, queries, objects, boxes):
        maps = self.neck(self.trunk(torch.cat([supports, queries])))
        of_supports, maps = maps.split([len(supports), len(queries)])
        prototypes = of_supports.mean((2, 3)).view(self.classes, -1, NECK).mean(1)
        found = self.head((maps[:, None] * prototypes[None, :, :, None, None]).flatten(0, 1)).float()
        return F.binary_cross_entropy_with_logits(found[:, 0], objects) + F.smooth_l1_loss(found[:, 1:], boxes)


def corners(count, size, generator):
    """Boxes of 24 to 120 pixels of a picture of 320."""
    extent = (24 + 96 * torch.rand(*count, 2, generator=generator)) * size / 320
    corner = torch.rand(*count, 2, generator=generator) * (size - extent)
    return torch.cat([corner, corner + extent], -1)


def episode(generator, classes, shots, queries, boxes, size):
    """On the host: pictures as bytes, channels-last, boxes, labels of a third to all of their places, and numbers at random."""
    def pictures(count):
        made = torch.randint(0, 256, (count, 3, size, size), dtype=torch.uint8, generator=generator)
        return made.contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, classes, (queries, boxes), generator=generator)
    there = torch.randint(max(1, boxes // 3), boxes + 1, (queries, 1), generator=generator)
    labels[torch.arange(boxes)[None] >= there] = -1
    places = corners((queries, boxes), size, generator) * (labels >= 0)[..., None]
    return [pictures(classes * shots), corners((classes * shots,), size, generator), pictures(queries), places, labels,
            torch.rand(classes * shots + queries, 3, generator=generator)]


def trunk_episode(generator, classes, shots, queries, boxes, size):
    cells = size // STRIDE
    def pictures(count):
        return torch.randn(count, 3, size, size, generator=generator)
    objects = (torch.rand(queries * classes, cells, cells, generator=generator) > 0.9).float()
    return [pictures(classes * shots), pictures(queries), objects, torch.rand(queries * classes, 4, cells, cells, generator=generator)]
