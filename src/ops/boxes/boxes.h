// Arithmetic of boxes for detectors, in ATen's operators.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep {

// Boxes are floating [..., 4], on any device: the corners x1, y1, x2, y2 in pixels, without "+ 1".
// Results have the dtype of the boxes, but at least f32. All functions are differentiable where
// they are smooth, and do not wait for the device. Each throws Error unless the last dimension is
// 4.

at::Tensor corners_of_xywh(const at::Tensor& boxes);  // from x, y, width, height, as COCO has them
at::Tensor xywh_of_corners(const at::Tensor& boxes);

// Returns [...]: width × height, as torchvision.ops.box_area. The area is negative if a box's
// corners are swapped along one axis.
at::Tensor box_areas(const at::Tensor& boxes);

// a [..., A, 4], b [..., B, 4] → [..., A, B]: the intersection over union of each pair, as
// torchvision.ops.box_iou. Two empty boxes give 0, where torchvision gives NaN.
at::Tensor box_ious(const at::Tensor& a, const at::Tensor& b);

// a, b [..., 4] → [...]: the generalised IoU of each box of a with the same box of b (Rezatofighi
// and others, 2019), −1 to 1. It is the IoU minus the share of the common hull that neither box
// covers. 1 minus the generalised IoU is a loss. Empty unions and hulls are treated as in
// torchvision's generalized_box_iou_loss, which adds 1e-7 to both.
at::Tensor generalised_ious(const at::Tensor& a, const at::Tensor& b);

// Clips corners to [0, width] × [0, height], as torchvision.ops.clip_boxes_to_image.
at::Tensor clip_boxes(const at::Tensor& boxes, double height, double width);

// How boxes are encoded relative to anchors (Girshick and others, 2014; Ren and others, 2015):
//   tx = wx (x − xa) / w_a, ty = wy (y − ya) / h_a, tw = ww log(w / w_a), th = wh log(h / h_a)
// with centres x, y and sizes w, h, as in torchvision's BoxCoder.
struct BoxCoding {
  std::array<double, 4> weights{1, 1, 1, 1};  // wx, wy, ww, wh; detection heads: 10, 10, 5, 5
  // decode_boxes limits tw / ww and th / wh to this value, log(1000 / 16), so that exp does not
  // overflow.
  double most_log_size = 4.135166556742356;
};

// boxes and anchors [..., 4], broadcast → deltas [..., 4]. A box without width or height gives a
// delta of −inf, so leave out such boxes beforehand.
at::Tensor encode_boxes(const at::Tensor& boxes, const at::Tensor& anchors,
                        const BoxCoding& coding = {});
// deltas and anchors [..., 4], broadcast → boxes [..., 4], not clipped.
at::Tensor decode_boxes(const at::Tensor& deltas, const at::Tensor& anchors,
                        const BoxCoding& coding = {});

// The anchors of each cell of a map of features.
struct AnchorGrid {
  std::vector<double> sizes{32, 64, 128, 256, 512};  // square roots of the areas, in pixels
  std::vector<double> ratios{0.5, 1, 2};             // height / width
  double stride_y = 16, stride_x = 16;               // pixels per cell
  std::int64_t per_cell() const { return static_cast<std::int64_t>(sizes.size() * ratios.size()); }
};

// Returns f32 [height × width × per_cell, 4], by rows of cells, then cells, then ratios, then
// sizes. Anchor (y, x, a) is at index (y × width + x) × per_cell + a. A map [N, per_cell, height,
// width] has this order after permute({0, 2, 3, 1}). The rules are those of torchvision's
// AnchorGenerator. The corners of an anchor around 0 are ±w/2 and ±h/2, with w = size / √ratio and
// h = size × √ratio. They are rounded to whole pixels, halves to even, and moved by (x × stride_x,
// y × stride_y), the cell's upper left corner. The anchors are made on the CPU and then copied, so
// make them once, not in every step.
at::Tensor grid_anchors(const AnchorGrid& grid, std::int64_t height, std::int64_t width,
                        const at::Device& device = at::kCPU);

}  // namespace lockstep
