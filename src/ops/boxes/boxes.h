// Arithmetic of boxes, as detectors need it, in ATen's operators.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep {

// Boxes are floating [..., 4]: the corners x1, y1, x2, y2 in pixels, without "+ 1", on any device.
// Results are of their dtype, but at least f32. Everything is differentiable as far as it is
// smooth, and waits for no device. Each throws Error unless the last dimension is 4.

at::Tensor corners_of_xywh(const at::Tensor& boxes);  // from x, y, width, height, as COCO has them
at::Tensor xywh_of_corners(const at::Tensor& boxes);

// [...]: width × height, as torchvision.ops.box_area: of a box whose corners are exchanged along
// one axis negative.
at::Tensor box_areas(const at::Tensor& boxes);

// a [..., A, 4], b [..., B, 4] → [..., A, B]: intersection over union of each pair, as
// torchvision.ops.box_iou, but 0 where both boxes are empty, which there is NaN.
at::Tensor box_ious(const at::Tensor& a, const at::Tensor& b);

// a, b [..., 4] → [...]: generalised IoU of each with its own (Rezatofighi and others, 2019), −1 to
// 1: the IoU less the share of the common hull that neither covers. 1 minus it is a loss. Empty
// unions and hulls count as in torchvision's generalized_box_iou_loss, which adds 1e-7 to both.
at::Tensor generalised_ious(const at::Tensor& a, const at::Tensor& b);

// Corners moved into [0, width] × [0, height], as torchvision.ops.clip_boxes_to_image.
at::Tensor clip_boxes(const at::Tensor& boxes, double height, double width);

// How boxes are described relative to anchors (Girshick and others, 2014; Ren and others, 2015):
//   tx = wx (x − xa) / w_a, ty = wy (y − ya) / h_a, tw = ww log(w / w_a), th = wh log(h / h_a)
// of centres x, y and sizes w, h, as torchvision's BoxCoder.
struct BoxCoding {
  std::array<double, 4> weights{1, 1, 1, 1};  // wx, wy, ww, wh; detection heads: 10, 10, 5, 5
  // decode_boxes takes a larger tw / ww, th / wh as this one, so that exp does not overflow:
  // log(1000 / 16).
  double most_log_size = 4.135166556742356;
};

// boxes and anchors [..., 4], broadcast → deltas [..., 4]. A box without width or height gives a
// delta of −inf; leave such boxes out before.
at::Tensor encode_boxes(const at::Tensor& boxes, const at::Tensor& anchors,
                        const BoxCoding& coding = {});
// deltas and anchors [..., 4], broadcast → boxes [..., 4], not clipped.
at::Tensor decode_boxes(const at::Tensor& deltas, const at::Tensor& anchors,
                        const BoxCoding& coding = {});

// Anchors of every cell of a map of features.
struct AnchorGrid {
  std::vector<double> sizes{32, 64, 128, 256, 512};  // roots of the areas, pixels
  std::vector<double> ratios{0.5, 1, 2};             // height / width
  double stride_y = 16, stride_x = 16;               // pixels per cell
  std::int64_t per_cell() const { return static_cast<std::int64_t>(sizes.size() * ratios.size()); }
};

// f32 [height × width × per_cell, 4], by rows of cells, then cells, then ratios, then sizes: anchor
// (y, x, a) is at index (y × width + x) × per_cell + a, as a [N, per_cell, height, width] map gives
// with permute({0, 2, 3, 1}). As torchvision's AnchorGenerator: corners of the anchors about 0,
// ±w/2 and ±h/2 of w = size / √ratio and h = size × √ratio, are rounded to whole pixels, halves to
// even, and moved by (x × stride_x, y × stride_y), the cell's upper left corner.
// Made on the CPU and copied: make it once, not in every step.
at::Tensor grid_anchors(const AnchorGrid& grid, std::int64_t height, std::int64_t width,
                        const at::Device& device = at::kCPU);

}  // namespace lockstep
