// Matches boxes by our kernel, or class by class with ATen's operators.
#include "ops/match_boxes/match_boxes.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/boxes/boxes.h"
#include "ops/shared/own_kernels.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <vector>

namespace lockstep {
namespace {

MatchKernels match_kernels;  // set once, before the first step

void check_match(const at::Tensor& anchors, const at::Tensor& boxes, const at::Tensor& labels) {
  const bool fit = anchors.dim() == 2 && anchors.size(1) == 4 && boxes.dim() == 3 &&
                   boxes.size(2) == 4 && labels.sizes() == boxes.sizes().slice(0, 2);
  if (!fit || anchors.scalar_type() != at::kFloat || boxes.scalar_type() != at::kFloat ||
      labels.scalar_type() != at::kLong)
    throw Error(
        cat("match_anchors wants anchors f32 [P, 4], boxes f32 [Q, M, 4] and labels i64 "
            "[Q, M], but got ",
            anchors.sizes(), " of ", anchors.scalar_type(), ", ", boxes.sizes(), " of ",
            boxes.scalar_type(), " and ", labels.sizes(), " of ", labels.scalar_type()));
}

void check_match_regions(const at::Tensor& regions, const at::Tensor& known,
                         const at::Tensor& boxes, const at::Tensor& labels) {
  const bool fit = regions.dim() == 3 && regions.size(2) == 4 && boxes.dim() == 3 &&
                   boxes.size(2) == 4 && boxes.size(0) == regions.size(0) &&
                   known.sizes() == regions.sizes().slice(0, 2) &&
                   labels.sizes() == boxes.sizes().slice(0, 2);
  if (!fit || regions.scalar_type() != at::kFloat || boxes.scalar_type() != at::kFloat ||
      known.scalar_type() != at::kBool || labels.scalar_type() != at::kLong)
    throw Error(
        cat("match_regions wants regions f32 [Q, R, 4], known bool [Q, R], boxes f32 "
            "[Q, M, 4] and labels i64 [Q, M], but got ",
            regions.sizes(), " of ", regions.scalar_type(), ", ", known.sizes(), " of ",
            known.scalar_type(), ", ", boxes.sizes(), " of ", boxes.scalar_type(), " and ",
            labels.sizes(), " of ", labels.scalar_type()));
}

at::Tensor aligned_boxes(const at::Tensor& boxes) {
  const at::Tensor dense = boxes.contiguous();
  return aligned(dense) ? dense : dense.clone();
}

}  // namespace

at::Tensor weights_as_drawn(const at::Tensor& positive, const at::Tensor& negative, double drawn,
                            double positive_share) {
  const at::Tensor p = positive.to(at::kFloat), n = negative.to(at::kFloat);
  const at::Tensor positives = p.sum(-1, true), negatives = n.sum(-1, true);
  const at::Tensor of_positives = positives.clamp_max(drawn * positive_share);
  const at::Tensor of_negatives = at::minimum(negatives, of_positives.neg().add(drawn));
  return p.mul(of_positives.div(positives.clamp_min(1)))
      .add(n.mul(of_negatives.div(negatives.clamp_min(1))))
      .div(drawn);
}

at::Tensor ignored_shares(const at::Tensor& rows, const at::Tensor& boxes,
                          const at::Tensor& labels) {
  const at::Tensor a = rows.unsqueeze(-2), b = boxes.unsqueeze(1);  // [., R, 1, 4], [Q, 1, M, 4]
  const at::Tensor low = at::maximum(a.slice(-1, 0, 2), b.slice(-1, 0, 2));
  const at::Tensor high = at::minimum(a.slice(-1, 2, 4), b.slice(-1, 2, 4));
  const at::Tensor inside = high.sub(low).clamp_min(0).prod(-1);  // [Q, R, M]
  return inside.masked_fill(labels.ne(ignore_box).unsqueeze(1), 0)
      .amax(-1)
      .div(box_areas(rows).clamp_min(match_least_area));
}

RowTargets match_anchors_reference(const at::Tensor& anchors, const at::Tensor& boxes,
                                   const at::Tensor& labels, const AnchorMatching& how) {
  const at::NoGradGuard no_gradient;
  const at::Tensor overlaps = box_ious(anchors.unsqueeze(0), boxes);  // [Q, P, M]
  const at::Tensor class_numbers = at::arange(how.classes, labels.options());
  const at::Tensor of_class = labels.unsqueeze(1).eq(class_numbers.view({1, -1, 1}));  // [Q, N, M]
  const at::Tensor ignored = ignored_shares(anchors.unsqueeze(0), boxes, labels).gt(how.ignored);
  // A tensor [Q, N, P, M] would be too large, so this goes class by class.
  std::vector<at::Tensor> positive, weight, box;
  for (std::int64_t c = 0; c < how.classes; ++c) {
    const at::Tensor own = of_class.select(1, c).unsqueeze(1);          // [Q, 1, M]
    const at::Tensor iou = overlaps.masked_fill(own.logical_not(), 0);  // [Q, P, M]
    const auto [best, which] = iou.max(-1);                             // [Q, P]
    const at::Tensor best_of_box = iou.amax(1, true);                   // [Q, 1, M]
    const at::Tensor is_best = iou.eq(best_of_box).logical_and(best_of_box.gt(match_least_overlap));
    // The best anchor of a box is assigned to that box, even if another box overlaps it more.
    const auto [any_best, best_for] = is_best.to(at::kByte).max(-1);
    const at::Tensor forced = any_best.gt(0);
    const at::Tensor is_positive = best.ge(how.positive).logical_or(forced);
    const at::Tensor negative =
        best.lt(how.negative).logical_and(is_positive.logical_or(ignored).logical_not());
    const at::Tensor index = at::where(forced, best_for, which);
    positive.push_back(is_positive);
    weight.push_back(weights_as_drawn(is_positive, negative, how.drawn, how.positive_share));
    box.push_back(boxes.gather(1, index.unsqueeze(-1).expand({-1, -1, 4})));
  }
  return {
      .positive = at::stack(positive, 1), .weight = at::stack(weight, 1), .box = at::stack(box, 1)};
}

RowTargets match_anchors(const at::Tensor& anchors, const at::Tensor& boxes,
                         const at::Tensor& labels, const AnchorMatching& how) {
  check_match(anchors, boxes, labels);
  const std::int64_t pictures = boxes.size(0), most = boxes.size(1), count = anchors.size(0);
  if (!anchors.is_cuda() || match_kernels.anchors == nullptr || pictures == 0 || most == 0 ||
      count == 0 || how.classes < 1 || pictures > match_most_pictures || most > match_most_boxes)
    return match_anchors_reference(anchors, boxes, labels, how);
  const at::NoGradGuard no_gradient;
  const at::Tensor of = labels.contiguous();
  const auto f32 = boxes.options();
  const std::vector<std::int64_t> sizes{pictures, how.classes, count};
  RowTargets found{.positive = at::empty(sizes, f32.dtype(at::kBool)),
                   .weight = at::empty(sizes, f32),
                   .box = at::empty({pictures, how.classes, count, 4}, f32)};
  const at::Tensor best = at::empty({pictures, most}, f32);
  const at::Tensor states = at::empty(sizes, f32.dtype(at::kByte));
  const at::Tensor counts = at::zeros({pictures, how.classes, 2}, f32.dtype(at::kInt));
  const at::Tensor read_from = aligned_boxes(anchors), read_to = aligned_boxes(boxes);
  match_kernels.anchors({.anchors = read_from.const_data_ptr<float>(),
                         .boxes = read_to.const_data_ptr<float>(),
                         .labels = of.const_data_ptr<std::int64_t>(),
                         .best_of_box = best.mutable_data_ptr<float>(),
                         .states = states.mutable_data_ptr<std::uint8_t>(),
                         .counts = counts.mutable_data_ptr<std::int32_t>(),
                         .positive = found.positive.mutable_data_ptr<bool>(),
                         .weight = found.weight.mutable_data_ptr<float>(),
                         .box = found.box.mutable_data_ptr<float>(),
                         .pictures = pictures,
                         .classes = how.classes,
                         .count = count,
                         .most = most,
                         .positive_overlap = static_cast<float>(how.positive),
                         .negative_overlap = static_cast<float>(how.negative),
                         .ignored_share = static_cast<float>(how.ignored),
                         .drawn = static_cast<float>(how.drawn),
                         .most_positive = static_cast<float>(how.drawn * how.positive_share)});
  return found;
}

RegionMatches match_regions_reference(const at::Tensor& regions, const at::Tensor& known,
                                      const at::Tensor& boxes, const at::Tensor& labels,
                                      const RegionMatching& how) {
  const at::NoGradGuard no_gradient;
  const at::Tensor of_class = labels.ge(0).unsqueeze(1);  // [Q, 1, M]
  const at::Tensor iou = box_ious(regions, boxes).masked_fill(of_class.logical_not(), 0);
  const auto [best, which] = iou.max(-1);  // [Q, R]
  const at::Tensor positive = best.ge(how.positive).logical_and(known);
  const at::Tensor negative =
      known.logical_and(positive.logical_not())
          .logical_and(ignored_shares(regions, boxes, labels).le(how.ignored));
  RegionMatches found;
  found.rows.positive = positive;
  found.rows.weight = weights_as_drawn(positive, negative, how.drawn, how.positive_share);
  found.rows.box = boxes.gather(1, which.unsqueeze(-1).expand({-1, -1, 4}));
  found.label = at::where(positive, labels.gather(1, which), how.classes);
  return found;
}

RegionMatches match_regions(const at::Tensor& regions, const at::Tensor& known,
                            const at::Tensor& boxes, const at::Tensor& labels,
                            const RegionMatching& how) {
  check_match_regions(regions, known, boxes, labels);
  const std::int64_t pictures = boxes.size(0), most = boxes.size(1), count = regions.size(1);
  if (!regions.is_cuda() || match_kernels.regions == nullptr || pictures == 0 || most == 0 ||
      count == 0 || pictures > match_most_pictures)
    return match_regions_reference(regions, known, boxes, labels, how);
  const at::NoGradGuard no_gradient;
  const at::Tensor from = aligned_boxes(regions), to = aligned_boxes(boxes),
                   of = labels.contiguous(), there = known.contiguous();
  const auto f32 = boxes.options();
  RegionMatches found{.rows = {.positive = at::empty({pictures, count}, f32.dtype(at::kBool)),
                               .weight = at::empty({pictures, count}, f32),
                               .box = at::empty({pictures, count, 4}, f32)},
                      .label = at::empty({pictures, count}, f32.dtype(at::kLong))};
  match_kernels.regions({.regions = from.const_data_ptr<float>(),
                         .boxes = to.const_data_ptr<float>(),
                         .labels = of.const_data_ptr<std::int64_t>(),
                         .known = there.const_data_ptr<bool>(),
                         .positive = found.rows.positive.mutable_data_ptr<bool>(),
                         .weight = found.rows.weight.mutable_data_ptr<float>(),
                         .box = found.rows.box.mutable_data_ptr<float>(),
                         .label = found.label.mutable_data_ptr<std::int64_t>(),
                         .pictures = pictures,
                         .classes = how.classes,
                         .count = count,
                         .most = most,
                         .positive_overlap = static_cast<float>(how.positive),
                         .ignored_share = static_cast<float>(how.ignored),
                         .drawn = static_cast<float>(how.drawn),
                         .most_positive = static_cast<float>(how.drawn * how.positive_share)});
  return found;
}

void register_cuda_match(MatchKernels kernels) { match_kernels = kernels; }

}  // namespace lockstep
