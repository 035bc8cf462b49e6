// Rows of a detector for tests on the CPU and on GPUs: logits, deltas and what both should be.
#pragma once

#include "fakes/detection_cases.h"
#include "ops/detection_loss/detection_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace lockstep::testing {

struct RowLossCase {
  std::string name;
  at::Tensor logits, deltas, from, label, picture_weight;  // label undefined: anchors
  RowTargets targets;
  DetectionLossOptions options;
};

// Boxes with an extent.
inline at::Tensor solid_f32_boxes(std::int64_t count) {
  const at::Tensor corner = at::rand({count, 2}) * 50, size = at::rand({count, 2}) * 40 + 4;
  return at::cat({corner, corner + size}, 1);
}

// share: of positives, about.
inline RowTargets drawn_row_targets(std::vector<std::int64_t> sizes, double share) {
  const at::Tensor positive = at::rand(sizes).lt(share);
  const at::Tensor weight = at::rand(sizes).mul(at::rand(sizes).lt(0.7));  // some 0
  sizes.push_back(4);
  return {.positive = positive,
          .weight = weight,
          .box = solid_f32_boxes(std::max<std::int64_t>(positive.numel(), 1))
                     .narrow(0, 0, positive.numel())
                     .view(sizes)};
}

// Anchors of maps: [pictures, classes, cells, per_cell] rows.
inline RowLossCase anchor_rows(std::int64_t pictures, std::int64_t classes, std::int64_t cells,
                               std::int64_t per_cell, double share) {
  return {.name = c10::str(pictures, " x ", classes, " x ", cells, " x ", per_cell),
          .logits = at::randn({pictures, classes, cells, per_cell}).mul(4),
          .deltas = at::randn({pictures, classes, cells, per_cell, 4}),
          .from = solid_f32_boxes(cells * per_cell),
          .picture_weight = at::rand({pictures}),
          .targets = drawn_row_targets({pictures, classes, cells * per_cell}, share),
          .options = {.beta = 1.0 / 9, .class_factor = 0.3, .box_factor = 1.7}};
}

// Regions of pictures, some labels -1.
inline RowLossCase region_rows(std::int64_t pictures, std::int64_t regions, std::int64_t columns,
                               double share) {
  return {.name = c10::str(pictures, " x ", regions, " of ", columns),
          .logits = at::randn({pictures * regions, columns}).mul(4),
          .deltas = at::randn({pictures * regions, 4}),
          .from = solid_f32_boxes(pictures * regions).view({pictures, regions, 4}),
          .label = at::randint(-1, columns, {pictures, regions}, at::kLong),
          .picture_weight = {},
          .targets = drawn_row_targets({pictures, regions}, share),
          .options = {.coding = {.weights = {10, 8, 5, 4}}, .beta = 1, .class_factor = 2}};
}

// Odd sizes, one block and several; none positive, all.
inline std::vector<RowLossCase> row_loss_cases() {
  std::vector<RowLossCase> cases{anchor_rows(2, 3, 35, 5, 0.1), anchor_rows(1, 1, 1, 1, 1),
                                 anchor_rows(3, 1, 257, 3, 0),  anchor_rows(5, 5, 100, 15, 0.01),
                                 region_rows(5, 80, 6, 0.25),   region_rows(1, 1, 2, 1),
                                 region_rows(3, 171, 4, 0),     region_rows(2, 300, 33, 1)};
  cases[1].picture_weight = at::Tensor();
  cases[4].picture_weight = at::rand({5});
  cases[6].label.fill_(-1);
  cases[7].targets.weight.fill_(0.5);
  return cases;
}

inline RowLossCase moved(const RowLossCase& test, const at::Device& device, at::ScalarType logits,
                         at::ScalarType deltas) {
  const auto to = [&](const at::Tensor& t) { return t.defined() ? t.to(device) : t; };
  RowLossCase result = test;
  result.logits = test.logits.to(device, logits);
  result.deltas = test.deltas.to(device, deltas);
  result.from = to(test.from);
  result.label = to(test.label);
  result.picture_weight = to(test.picture_weight);
  result.targets = {to(test.targets.positive), to(test.targets.weight), to(test.targets.box)};
  return result;
}

inline DetectionLoss loss_of(const RowLossCase& test, const at::Tensor& logits,
                             const at::Tensor& deltas) {
  if (test.label.defined())
    return region_loss(logits, deltas, test.from, test.targets, test.label, test.picture_weight,
                       test.options);
  return proposal_loss(logits, deltas, test.from, test.targets, test.picture_weight, test.options);
}

// Both sums, and the gradients of logits and deltas by 2 times the first and 3 times the second.
inline std::array<at::Tensor, 4> losses_with_gradients(const RowLossCase& test) {
  const at::Tensor logits = test.logits.detach().requires_grad_(),
                   deltas = test.deltas.detach().requires_grad_();
  const DetectionLoss loss = loss_of(test, logits, deltas);
  const auto gradients =
      torch::autograd::grad({loss.classes.mul(2).add(loss.boxes.mul(3))}, {logits, deltas});
  return {loss.classes.detach(), loss.boxes.detach(), gradients[0], gradients[1]};
}

}  // namespace lockstep::testing
