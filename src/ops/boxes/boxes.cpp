// Box functions with ATen's operators. Anchors are computed in a loop on the host.
#include "ops/boxes/boxes.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/log.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/stack.h>

#include <cmath>

namespace lockstep {
namespace {

// The smallest union of two boxes by which an overlap is divided, so that two empty boxes do not
// give NaN.
constexpr double smallest_area = 1e-12;
// Added to areas before a division by them, as in torchvision's loss.
constexpr double of_area = 1e-7;

// Returns the four coordinates, each [...], in f32 or f64.
std::array<at::Tensor, 4> parts_of(const at::Tensor& boxes) {
  if (boxes.dim() < 1 || boxes.size(-1) != 4 || !boxes.is_floating_point())
    throw Error(cat("boxes must be floating [..., 4], but are ", boxes.sizes(), " of ",
                    boxes.scalar_type()));
  const at::Tensor wide = boxes.scalar_type() == at::kDouble ? boxes : boxes.to(at::kFloat);
  return {wide.select(-1, 0), wide.select(-1, 1), wide.select(-1, 2), wide.select(-1, 3)};
}

// Centres and sizes.
struct Centred {
  at::Tensor x, y, width, height;
};
Centred centred(const at::Tensor& boxes) {
  const auto [x1, y1, x2, y2] = parts_of(boxes);
  const at::Tensor width = x2 - x1, height = y2 - y1;
  return {x1 + 0.5 * width, y1 + 0.5 * height, width, height};
}

at::Tensor common_area(const std::array<at::Tensor, 4>& a, const std::array<at::Tensor, 4>& b) {
  const at::Tensor width = at::minimum(a[2], b[2]) - at::maximum(a[0], b[0]),
                   height = at::minimum(a[3], b[3]) - at::maximum(a[1], b[1]);
  return width.clamp_min(0) * height.clamp_min(0);
}

at::Tensor area_of_parts(const std::array<at::Tensor, 4>& box) {
  return (box[2] - box[0]) * (box[3] - box[1]);
}

}  // namespace

at::Tensor corners_of_xywh(const at::Tensor& boxes) {
  const auto [x, y, width, height] = parts_of(boxes);
  return at::stack({x, y, x + width, y + height}, -1);
}

at::Tensor xywh_of_corners(const at::Tensor& boxes) {
  const auto [x1, y1, x2, y2] = parts_of(boxes);
  return at::stack({x1, y1, x2 - x1, y2 - y1}, -1);
}

at::Tensor box_areas(const at::Tensor& boxes) { return area_of_parts(parts_of(boxes)); }

at::Tensor box_ious(const at::Tensor& a, const at::Tensor& b) {
  auto of_a = parts_of(a), of_b = parts_of(b);
  if (a.dim() < 2 || b.dim() < 2)
    throw Error(cat("box_ious wants boxes [..., A, 4] and [..., B, 4], but got ", a.sizes(),
                    " and ", b.sizes()));
  for (at::Tensor& part : of_a) part = part.unsqueeze(-1);
  for (at::Tensor& part : of_b) part = part.unsqueeze(-2);
  const at::Tensor common = common_area(of_a, of_b);
  const at::Tensor both = area_of_parts(of_a) + area_of_parts(of_b) - common;
  return common / both.clamp_min(smallest_area);
}

at::Tensor generalised_ious(const at::Tensor& a, const at::Tensor& b) {
  const auto of_a = parts_of(a), of_b = parts_of(b);
  const at::Tensor common = common_area(of_a, of_b);
  const at::Tensor both = area_of_parts(of_a) + area_of_parts(of_b) - common;
  const at::Tensor hull = (at::maximum(of_a[2], of_b[2]) - at::minimum(of_a[0], of_b[0])) *
                          (at::maximum(of_a[3], of_b[3]) - at::minimum(of_a[1], of_b[1]));
  return common / (both + of_area) - (hull - both) / (hull + of_area);
}

at::Tensor clip_boxes(const at::Tensor& boxes, double height, double width) {
  const auto [x1, y1, x2, y2] = parts_of(boxes);
  return at::stack(
      {x1.clamp(0, width), y1.clamp(0, height), x2.clamp(0, width), y2.clamp(0, height)}, -1);
}

at::Tensor encode_boxes(const at::Tensor& boxes, const at::Tensor& anchors,
                        const BoxCoding& coding) {
  const Centred box = centred(boxes), anchor = centred(anchors);
  const auto& [wx, wy, ww, wh] = coding.weights;
  return at::stack(
      {wx * (box.x - anchor.x) / anchor.width, wy * (box.y - anchor.y) / anchor.height,
       ww * at::log(box.width / anchor.width), wh * at::log(box.height / anchor.height)},
      -1);
}

at::Tensor decode_boxes(const at::Tensor& deltas, const at::Tensor& anchors,
                        const BoxCoding& coding) {
  const auto [tx, ty, tw, th] = parts_of(deltas);
  const Centred anchor = centred(anchors);
  const auto& [wx, wy, ww, wh] = coding.weights;
  const at::Tensor x = tx / wx * anchor.width + anchor.x, y = ty / wy * anchor.height + anchor.y;
  const at::Tensor half_width =
      0.5 * at::exp((tw / ww).clamp_max(coding.most_log_size)) * anchor.width;
  const at::Tensor half_height =
      0.5 * at::exp((th / wh).clamp_max(coding.most_log_size)) * anchor.height;
  return at::stack({x - half_width, y - half_height, x + half_width, y + half_height}, -1);
}

at::Tensor grid_anchors(const AnchorGrid& grid, std::int64_t height, std::int64_t width,
                        const at::Device& device) {
  std::vector<std::array<float, 4>> about_0;
  for (const double ratio : grid.ratios)
    for (const double size : grid.sizes) {
      if (!(ratio > 0) || !(size > 0))
        throw Error(cat("anchors must have sizes and ratios above 0, but one has size ", size,
                        " and ratio ", ratio));
      const float root = std::sqrt(static_cast<float>(ratio));
      const float across = 1 / root * static_cast<float>(size),
                  down = root * static_cast<float>(size);
      // Rounds to integers, with halves to even.
      const float x = std::nearbyint(across / 2), y = std::nearbyint(down / 2);
      about_0.push_back({-x, -y, x, y});
    }
  const at::Tensor anchors = at::empty({height * width * grid.per_cell(), 4}, at::kFloat);
  float* to = anchors.mutable_data_ptr<float>();
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const auto right = static_cast<float>(static_cast<double>(x) * grid.stride_x),
                 below = static_cast<float>(static_cast<double>(y) * grid.stride_y);
      for (const auto& [x1, y1, x2, y2] : about_0)
        for (const float corner : {right + x1, below + y1, right + x2, below + y2}) *to++ = corner;
    }
  return anchors.to(device);
}

}  // namespace lockstep
