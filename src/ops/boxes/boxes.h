// Computes with boxes for detectors, with ATen's operators.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep {

// Boxes are floating [..., 4], on any device. The four numbers are the corners x1, y1, x2, y2 in
// pixels. The width of a box is x2 − x1. Results have the dtype of the boxes, but at least f32. All
// functions are differentiable where they are smooth, and do not wait for the device. They throw
// Error unless the last dimension is 4.

at::Tensor corners_of_xywh(const at::Tensor& boxes);  // from x, y, width, height (COCO)
at::Tensor xywh_of_corners(const at::Tensor& boxes);

// Returns width × height of each box, [...], as torchvision.ops.box_area. An area is negative if
// the corners are swapped along one axis.
at::Tensor box_areas(const at::Tensor& boxes);

// Returns the intersection over union of each pair, [..., A, B], as torchvision.ops.box_iou. a is
// [..., A, 4], and b is [..., B, 4]. Two empty boxes give 0; torchvision gives NaN.
at::Tensor box_ious(const at::Tensor& a, const at::Tensor& b);

// Returns the generalised IoU of each box of a with the box of b at the same index, [...], from −1
// to 1 (Rezatofighi and others, 2019). a and b are [..., 4]. The hull is the smallest box that
// contains both boxes. The value is the IoU minus the share of the hull that neither box covers. As
// a loss, use 1 minus this value. The function adds 1e-7 to the areas of unions and hulls, like
// torchvision's generalized_box_iou_loss.
at::Tensor generalised_ious(const at::Tensor& a, const at::Tensor& b);

// Clips corners to [0, width] × [0, height], as torchvision.ops.clip_boxes_to_image.
at::Tensor clip_boxes(const at::Tensor& boxes, double height, double width);

// How boxes are encoded relative to anchors (Girshick and others, 2014; Ren and others, 2015):
//   tx = wx (x − xa) / w_a, ty = wy (y − ya) / h_a, tw = ww log(w / w_a), th = wh log(h / h_a)
// x and y are centres, and w and h sizes, as in torchvision's BoxCoder.
struct BoxCoding {
  std::array<double, 4> weights{1, 1, 1, 1};  // wx, wy, ww, wh; usually 10, 10, 5, 5 for heads
  // decode_boxes limits tw / ww and th / wh to this value, so that exp does not overflow. The
  // default is log(1000 / 16).
  double most_log_size = 4.135166556742356;
};

// Returns the deltas of boxes relative to anchors, [..., 4]. boxes and anchors are [..., 4], and
// are broadcast. A box without width or height gives a delta of −inf, so leave out such boxes
// beforehand.
at::Tensor encode_boxes(const at::Tensor& boxes, const at::Tensor& anchors,
                        const BoxCoding& coding = {});
// Returns the boxes [..., 4], not clipped. deltas and anchors are [..., 4], and are broadcast.
at::Tensor decode_boxes(const at::Tensor& deltas, const at::Tensor& anchors,
                        const BoxCoding& coding = {});

// The anchors of each cell of a feature map.
struct AnchorGrid {
  std::vector<double> sizes{32, 64, 128, 256, 512};  // square roots of the areas, in pixels
  std::vector<double> ratios{0.5, 1, 2};             // height / width
  double stride_y = 16, stride_x = 16;               // pixels per cell
  std::int64_t per_cell() const { return static_cast<std::int64_t>(sizes.size() * ratios.size()); }
};

// Returns the anchors of a feature map, f32 [height × width × per_cell, 4]. Anchor (y, x, a) is at
// index (y × width + x) × per_cell + a. Within a cell, the anchors are ordered by ratio, then by
// size. A feature map [N, per_cell, height, width] has this order after permute({0, 2, 3, 1}).
//
// The rules are those of torchvision's AnchorGenerator. An anchor whose centre is 0 has the corners
// ±w/2 and ±h/2, with w = size / √ratio and h = size × √ratio. These corners are rounded to whole
// pixels, and half pixels to even numbers. Then the upper left corner of the cell, (x × stride_x, y
// × stride_y), is added to them.
//
// The anchors are computed on the CPU and then copied, so make them once and not in every step.
// Throws Error unless sizes and ratios are above 0.
at::Tensor grid_anchors(const AnchorGrid& grid, std::int64_t height, std::int64_t width,
                        const at::Device& device = at::kCPU);

}  // namespace lockstep
