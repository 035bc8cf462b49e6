// Non-maximum suppression, by our kernels or on the CPU.
#include "ops/nms/nms.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/boxes/box_inline.h"
#include "ops/shared/voxel_layout.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace lockstep {
namespace {

constexpr float nowhere_score = -std::numeric_limits<float>::infinity();

NmsKernels nms_kernels;  // set once, before the first step

void check_nms(const at::Tensor& boxes, const at::Tensor& scores, const at::Tensor& group,
               double threshold, std::int64_t at_most) {
  if ((boxes.dim() != 2 && boxes.dim() != 3) || boxes.size(-1) != 4 ||
      boxes.scalar_type() != at::kFloat)
    throw Error(cat("nms wants boxes f32 [R, 4] or [B, R, 4], but got ", boxes.sizes(), " of ",
                    boxes.scalar_type()));
  const at::IntArrayRef sizes = boxes.sizes().slice(0, static_cast<std::size_t>(boxes.dim()) - 1);
  if (scores.sizes() != sizes || scores.scalar_type() != at::kFloat)
    throw Error(cat("nms wants a score f32 for each of the boxes ", sizes, ", but got ",
                    scores.sizes(), " of ", scores.scalar_type()));
  if (group.defined() && (group.sizes() != sizes || group.scalar_type() != at::kLong))
    throw Error(cat("nms wants a group i64 for each of the boxes ", sizes, ", but got ",
                    group.sizes(), " of ", group.scalar_type()));
  if (scores.device() != boxes.device() || (group.defined() && group.device() != boxes.device()))
    throw Error(cat("nms wants everything on one device, but boxes are on ", boxes.device().str(),
                    " and scores on ", scores.device().str()));
  if (std::isnan(threshold)) throw Error("nms's IoU threshold must be a number, but is NaN");
  if (at_most < 1) throw Error(cat("nms must keep at least 1 box, but at_most is ", at_most));
}

// The largest float that is not above `threshold`. A float is above both of them or above neither.
float float_not_above(double threshold) {
  const auto nearest = static_cast<float>(threshold);
  return nearest > threshold ? std::nextafter(nearest, nowhere_score) : nearest;
}

// Sets of boxes, sorted by score.
struct SortedBoxes {
  // boxes, group: in the given order. scores: sorted. order: the sorted order, or undefined if the
  // boxes were given sorted.
  at::Tensor boxes, group, scores, order;
  float threshold;
};

SortedBoxes sort_boxes(const at::Tensor& boxes, const at::Tensor& scores, const at::Tensor& group,
                       double threshold, bool is_sorted) {
  const auto sets = [&](const at::Tensor& tensor) {
    return boxes.dim() == 2 ? tensor.unsqueeze(0) : tensor;
  };
  SortedBoxes result{.boxes = lying_densely(sets(boxes), at::MemoryFormat::Contiguous),
                     .group = group.defined() ? sets(group).contiguous() : group,
                     .threshold = float_not_above(threshold)};
  if (is_sorted) {
    result.scores = sets(scores).contiguous();
    return result;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const auto [sorted, order] = at::sort(sets(scores).nan_to_num(-infinity, infinity, -infinity),
                                        /*stable=*/true, /*dim=*/1, /*descending=*/true);
  result.scores = sorted.contiguous();
  result.order = order.contiguous();
  return result;
}

// Handles one set. Returns the number of boxes that are kept.
std::int64_t keep_on_cpu(const Corners* boxes, const float* scores, const std::int64_t* order,
                         const std::int64_t* group, std::int64_t n, float threshold,
                         std::int64_t at_most, std::int64_t* indices) {
  struct Candidate {
    Corners box;
    std::int64_t index, group;
    bool removed;
  };
  std::vector<Candidate> sorted;  // in the order in which boxes are compared
  for (std::int64_t i = 0; i < n; ++i) {
    if (!(scores[i] > nowhere_score)) continue;
    const std::int64_t index = order != nullptr ? order[i] : i;
    sorted.push_back({boxes[index], index, group != nullptr ? group[index] : 0, false});
  }
  std::int64_t count = 0;
  for (auto kept = sorted.begin(); kept != sorted.end() && count < at_most; ++kept) {
    if (kept->removed) continue;
    indices[count++] = kept->index;
    for (auto other = kept + 1; other != sorted.end(); ++other)
      if (other->group == kept->group && overlap(kept->box, other->box, threshold))
        other->removed = true;
  }
  return count;
}

KeptBoxes kept_on_cpu(const SortedBoxes& sorted, std::int64_t at_most) {
  const std::int64_t sets = sorted.scores.size(0), n = sorted.scores.size(1);
  const KeptBoxes kept{at::full({sets, at_most}, -1, at::kLong), at::zeros({sets}, at::kLong)};
  if (n == 0) return kept;
  const auto* boxes = reinterpret_cast<const Corners*>(sorted.boxes.const_data_ptr<float>());
  const float* scores = sorted.scores.const_data_ptr<float>();
  const std::int64_t* order =
      sorted.order.defined() ? sorted.order.const_data_ptr<std::int64_t>() : nullptr;
  const std::int64_t* group =
      sorted.group.defined() ? sorted.group.const_data_ptr<std::int64_t>() : nullptr;
  std::int64_t* indices = kept.indices.mutable_data_ptr<std::int64_t>();
  std::int64_t* count = kept.count.mutable_data_ptr<std::int64_t>();
  at::parallel_for(0, sets, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t set = begin; set < end; ++set)
      count[set] = keep_on_cpu(boxes + set * n, scores + set * n,
                               order != nullptr ? order + set * n : nullptr,
                               group != nullptr ? group + set * n : nullptr, n, sorted.threshold,
                               at_most, indices + set * at_most);
  });
  return kept;
}

KeptBoxes kept_by_kernel(const SortedBoxes& sorted, std::int64_t at_most) {
  const std::int64_t sets = sorted.scores.size(0), n = sorted.scores.size(1);
  const std::int64_t words = (n + 63) / 64;
  const at::TensorOptions whole = sorted.scores.options().dtype(at::kLong);
  const at::Tensor overlaps = at::empty({sets, n, words}, whole);
  const KeptBoxes kept{at::empty({sets, at_most}, whole), at::empty({sets}, whole)};
  const NmsArguments arguments{
      .boxes = sorted.boxes.const_data_ptr<float>(),
      .sorted_scores = sorted.scores.const_data_ptr<float>(),
      .order = sorted.order.defined() ? sorted.order.const_data_ptr<std::int64_t>() : nullptr,
      .group = sorted.group.defined() ? sorted.group.const_data_ptr<std::int64_t>() : nullptr,
      .overlaps = reinterpret_cast<std::uint64_t*>(overlaps.mutable_data_ptr<std::int64_t>()),
      .indices = kept.indices.mutable_data_ptr<std::int64_t>(),
      .count = kept.count.mutable_data_ptr<std::int64_t>(),
      .sets = sets,
      .boxes_per_set = n,
      .words = words,
      .at_most = at_most,
      .threshold = sorted.threshold};
  nms_kernels.overlaps(arguments);
  nms_kernels.keep(arguments);
  return kept;
}

bool nms_kernels_serve(const at::Tensor& scores) {
  return scores.is_cuda() && nms_kernels.keep != nullptr && scores.numel() > 0 &&
         scores.size(0) <= nms_most_sets && scores.size(1) <= nms_most_boxes;
}

}  // namespace

KeptBoxes nms_padded(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold,
                     std::int64_t at_most, const at::Tensor& group, bool is_sorted) {
  check_nms(boxes, scores, group, iou_threshold, at_most);
  const at::NoGradGuard no_gradient;
  const bool one = boxes.dim() == 2;
  const SortedBoxes sorted = sort_boxes(boxes, scores, group, iou_threshold, is_sorted);
  KeptBoxes kept;
  if (nms_kernels_serve(sorted.scores)) {
    kept = kept_by_kernel(sorted, at_most);
  } else {
    const SortedBoxes here{.boxes = sorted.boxes.cpu(),
                           .group = sorted.group.defined() ? sorted.group.cpu() : sorted.group,
                           .scores = sorted.scores.cpu(),
                           .order = sorted.order.defined() ? sorted.order.cpu() : sorted.order,
                           .threshold = sorted.threshold};
    const KeptBoxes found = kept_on_cpu(here, at_most);
    kept = {found.indices.to(boxes.device()), found.count.to(boxes.device())};
  }
  return one ? KeptBoxes{kept.indices.squeeze(0), kept.count} : kept;
}

at::Tensor nms(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold,
               const at::Tensor& group, std::int64_t at_most) {
  if (boxes.dim() != 2)
    throw Error(cat("nms wants boxes f32 [R, 4], but got ", boxes.sizes()),
                "nms_padded takes several sets");
  const std::int64_t most = std::min(at_most, std::max<std::int64_t>(boxes.size(0), 1));
  const KeptBoxes kept = nms_padded(boxes, scores, iou_threshold, most, group);
  return kept.indices.narrow(0, 0, kept.count.item<std::int64_t>());
}

void register_cuda_nms(NmsKernels kernels) { nms_kernels = kernels; }

}  // namespace lockstep
