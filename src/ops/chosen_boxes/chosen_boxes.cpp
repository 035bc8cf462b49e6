// Chosen boxes, by our kernels or with ATen's operators.
#include "ops/chosen_boxes/chosen_boxes.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/runs.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include <limits>
#include <vector>

namespace lockstep {
namespace {

ChosenBoxesKernels chosen_boxes_kernels;  // set once, before the first step

void check_decode(const at::Tensor& deltas, const at::Tensor& anchors, const at::Tensor& chosen) {
  const std::int64_t sets = chosen.dim() == 2 ? chosen.size(0) : 0;
  const bool fit = deltas.dim() >= 2 && deltas.size(0) == sets && anchors.dim() == 2 &&
                   anchors.size(0) > 0 && anchors.size(1) == 4 && sets > 0 &&
                   deltas.numel() % (4 * sets) == 0;
  if (!fit || !deltas.is_floating_point() || anchors.scalar_type() != at::kFloat ||
      chosen.scalar_type() != at::kLong)
    throw Error(
        cat("decode_chosen wants floating deltas [Q, ...] of rows of four, anchors f32 "
            "[P, 4] and rows i64 [Q, K], but got ",
            deltas.sizes(), " of ", deltas.scalar_type(), ", ", anchors.sizes(), " of ",
            anchors.scalar_type(), " and ", chosen.sizes(), " of ", chosen.scalar_type()));
}

at::Tensor decode_by_aten(const at::Tensor& deltas, const at::Tensor& anchors,
                          const at::Tensor& chosen, double height, double width,
                          const BoxCoding& coding) {
  const std::int64_t sets = chosen.size(0), count = chosen.size(1);
  const at::Tensor found =
      deltas.reshape({sets, -1, 4}).gather(1, chosen.unsqueeze(-1).expand({-1, -1, 4}));
  const at::Tensor from =
      anchors.index_select(0, chosen.remainder(anchors.size(0)).flatten()).view({sets, count, 4});
  return clip_boxes(decode_boxes(found, from, coding), height, width);
}

}  // namespace

at::Tensor decode_chosen(const at::Tensor& deltas, const at::Tensor& anchors,
                         const at::Tensor& chosen, double height, double width,
                         const BoxCoding& coding) {
  check_decode(deltas, anchors, chosen);
  const at::NoGradGuard no_gradient;
  const auto dtype = kernel_dtype(deltas.scalar_type());
  if (!deltas.is_cuda() || chosen_boxes_kernels.decode == nullptr || !dtype ||
      deltas.numel() == 0 || chosen.numel() == 0 ||
      deltas.numel() > std::numeric_limits<std::int32_t>::max())
    return decode_by_aten(deltas, anchors, chosen, height, width, coding);
  const InRuns read = in_runs(deltas, /*group=*/4);
  const at::Tensor dense = anchors.contiguous(), rows = chosen.contiguous();
  const at::Tensor from = aligned(dense) ? dense : dense.clone();
  at::Tensor boxes = at::empty({chosen.size(0), chosen.size(1), 4}, anchors.options());
  const auto& [wx, wy, ww, wh] = coding.weights;
  chosen_boxes_kernels.decode(
      {.deltas = read.tensor.const_data_ptr(),
       .dtype = *dtype,
       .runs = read.runs,
       .anchors = from.const_data_ptr<float>(),
       .chosen = rows.const_data_ptr<std::int64_t>(),
       .boxes = boxes.mutable_data_ptr<float>(),
       .sets = chosen.size(0),
       .rows = deltas.numel() / 4 / chosen.size(0),
       .anchor_count = anchors.size(0),
       .count = chosen.size(1),
       .coding = {static_cast<float>(wx), static_cast<float>(wy), static_cast<float>(ww),
                  static_cast<float>(wh), static_cast<float>(coding.most_log_size)},
       .height = static_cast<float>(height),
       .width = static_cast<float>(width)});
  return boxes;
}

IndexedBoxes boxes_at(const at::Tensor& boxes, const at::Tensor& index) {
  if (boxes.dim() != 3 || boxes.size(2) != 4 || boxes.scalar_type() != at::kFloat ||
      index.dim() != 2 || index.size(0) != boxes.size(0) || index.scalar_type() != at::kLong)
    throw Error(cat("boxes_at wants boxes f32 [Q, K, 4] and an index i64 [Q, count], but got ",
                    boxes.sizes(), " of ", boxes.scalar_type(), " and ", index.sizes(), " of ",
                    index.scalar_type()));
  const at::NoGradGuard no_gradient;
  if (!boxes.is_cuda() || chosen_boxes_kernels.gather == nullptr || boxes.numel() == 0 ||
      index.numel() == 0) {
    const at::Tensor known = index.ge(0);
    const at::Tensor found = boxes.gather(1, index.clamp_min(0).unsqueeze(-1).expand({-1, -1, 4}));
    return {.boxes = at::where(known.unsqueeze(-1), found, 0), .known = known};
  }
  const at::Tensor dense = boxes.contiguous(), rows = index.contiguous();
  const at::Tensor from = aligned(dense) ? dense : dense.clone();
  IndexedBoxes found{.boxes = at::empty({index.size(0), index.size(1), 4}, boxes.options()),
                     .known = at::empty(index.sizes(), boxes.options().dtype(at::kBool))};
  chosen_boxes_kernels.gather({.boxes = from.const_data_ptr<float>(),
                               .index = rows.const_data_ptr<std::int64_t>(),
                               .out = found.boxes.mutable_data_ptr<float>(),
                               .known = found.known.mutable_data_ptr<bool>(),
                               .sets = boxes.size(0),
                               .count = boxes.size(1),
                               .kept = index.size(1)});
  return found;
}

at::Tensor flip_boxes(const at::Tensor& boxes, const at::Tensor& numbers, double width) {
  if (boxes.dim() < 2 || boxes.size(-1) != 4 || boxes.scalar_type() != at::kFloat ||
      numbers.dim() != 1 || numbers.size(0) != boxes.size(0) ||
      numbers.scalar_type() != at::kFloat || numbers.device() != boxes.device())
    throw Error(
        cat("flip_boxes wants boxes f32 [B, ..., 4] and numbers f32 [B] on one device, but "
            "got ",
            boxes.sizes(), " of ", boxes.scalar_type(), " on ", boxes.device(), " and ",
            numbers.sizes(), " of ", numbers.scalar_type(), " on ", numbers.device()));
  const at::NoGradGuard no_gradient;
  if (!boxes.is_cuda() || chosen_boxes_kernels.flip == nullptr || boxes.numel() == 0) {
    const at::Tensor turned = at::stack({boxes.select(-1, 2).neg().add(width), boxes.select(-1, 1),
                                         boxes.select(-1, 0).neg().add(width), boxes.select(-1, 3)},
                                        -1);
    std::vector<std::int64_t> ones(static_cast<std::size_t>(boxes.dim()), 1);
    ones[0] = boxes.size(0);
    return at::where(numbers.lt(0.5).view(ones), turned, boxes);
  }
  const at::Tensor dense = boxes.contiguous();
  const at::Tensor from = aligned(dense) ? dense : dense.clone();
  at::Tensor out = at::empty_like(from);
  chosen_boxes_kernels.flip({.boxes = from.const_data_ptr<float>(),
                             .numbers = numbers.const_data_ptr<float>(),
                             .step = numbers.stride(0),
                             .out = out.mutable_data_ptr<float>(),
                             .pictures = boxes.size(0),
                             .count = boxes.numel() / 4 / boxes.size(0),
                             .width = static_cast<float>(width)});
  return out;
}

void register_cuda_chosen_boxes(ChosenBoxesKernels kernels) { chosen_boxes_kernels = kernels; }

}  // namespace lockstep
