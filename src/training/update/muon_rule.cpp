// Muon by ATen: momentum, orthogonalised by Newton and Schulz's iteration in bf16, a matrix at a
// time (https://kellerjordan.github.io/posts/muon/; the rate of match_rms_adamw: arXiv:2502.16982).
// Operations and their order are those of torch.optim.Muon of torch 2.11. On one machine's CPU,
// at rates that f32 holds exactly, the bits are too. AdamW updates the rest.
#include "core/base/check.h"
#include "training/update/optimizer_rule.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep {
namespace {

constexpr double least_muon_norm = 1e-7;
constexpr double linear = 3.4445, cubic = -4.7750, quintic = 2.0315;  // of the iteration
constexpr int muon_iterations = 5;

// As large as the largest matrix that a rank updates. update_workspace_bytes
// (planning/options/optimizers.cpp) counts it. An update allocates no further buffer of ours, so
// what of ours does not fit is known before anything changes. ATen's operations may need scratch.
struct MuonWorkspace {
  at::Tensor momentum;        // f32, then the new weights
  at::Tensor wide;            // f64; before that its first half is the update in f32
  at::Tensor first, second;   // bf16
  at::Tensor gram, gram_sum;  // bf16, [shorter side, shorter side]
};

class MuonRule : public OptimizerRule {
 public:
  MuonRule(const TrainOptions& options, const UpdateNumbers& numbers, at::Device device)
      : options_(options),
        numbers_(numbers),
        adamw_(make_adam_rule(options, numbers, device)),
        skip_(at::empty({1}, numbers.skip.options().dtype(at::kBool))),
        rate_(at::empty({}, numbers.skip.options().dtype(at::kDouble))),
        keep_(at::empty_like(rate_)),
        step_(at::empty_like(rate_)),
        factor_(at::empty({}, numbers.skip.options())),
        norm_(at::empty({}, numbers.skip.options().dtype(at::kBFloat16))) {}

  void set_groups(std::vector<UpdateGroup> groups) override {
    MuonWorkspace workspace = workspace_for(groups);
    std::vector<UpdateGroup> own(groups.size()), rest(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (UpdateRanges& ranges : groups[g])
        (ranges.matrices ? own : rest)[g].push_back(std::move(ranges));
    std::vector<bool> has_rest;
    for (const UpdateGroup& group : rest) has_rest.push_back(!group.empty());
    if (std::find(has_rest.begin(), has_rest.end(), true) != has_rest.end())
      adamw_->set_groups(std::move(rest));
    groups_ = std::move(own);
    has_rest_ = std::move(has_rest);
    if (workspace.momentum.defined()) workspaces_.push_back(std::move(workspace));
  }

  void begin() override {
    const at::NoGradGuard no_grad;
    at::gt_out(skip_, numbers_.skip, 0);
    if (std::find(has_rest_.begin(), has_rest_.end(), true) != has_rest_.end()) adamw_->begin();
  }

  void update(std::size_t group) override {
    const at::NoGradGuard no_grad;
    for (UpdateRanges& ranges : groups_[group])
      for (std::size_t i = 0; i < ranges.weights.size(); ++i) update_matrix(ranges, i);
    if (has_rest_[group]) adamw_->update(group);
  }

 private:
  // Nothing where the last one is large enough, or there are no matrices. Earlier ones stay for the
  // graphs that were captured with them.
  MuonWorkspace workspace_for(const std::vector<UpdateGroup>& groups) const {
    std::int64_t elements = 0, products = 0;
    for (const UpdateGroup& group : groups)
      for (const UpdateRanges& ranges : group)
        if (ranges.matrices)
          for (const at::Tensor& weights : ranges.weights) {
            const std::int64_t shorter = std::min(weights.size(0), weights.size(1));
            elements = std::max(elements, weights.numel());
            products = std::max(products, shorter * shorter);
          }
    if (elements == 0) return {};
    if (!workspaces_.empty() && workspaces_.back().momentum.numel() >= elements &&
        workspaces_.back().gram.numel() >= products)
      return {};
    const auto make = [&](std::int64_t size, at::ScalarType dtype) {
      return at::empty({size}, numbers_.skip.options().dtype(dtype));
    };
    return {.momentum = make(elements, at::kFloat),
            .wide = make(elements, at::kDouble),
            .first = make(elements, at::kBFloat16),
            .second = make(elements, at::kBFloat16),
            .gram = make(products, at::kBFloat16),
            .gram_sum = make(products, at::kBFloat16)};
  }

  static at::Tensor part(const at::Tensor& flat, std::int64_t rows, std::int64_t columns) {
    return flat.narrow(0, 0, rows * columns).view({rows, columns});
  }

  // momentum: f32 [rows, columns]. Returns a bf16 view of the workspace in that shape.
  at::Tensor orthogonalise(const at::Tensor& momentum) {
    const MuonWorkspace& workspace = workspaces_.back();
    const std::int64_t rows = momentum.size(0), columns = momentum.size(1);
    const std::int64_t shorter = std::min(rows, columns), longer = std::max(rows, columns);
    at::Tensor x = part(workspace.first, rows, columns);
    x.copy_(momentum);
    if (rows > columns) x = x.t();
    at::linalg_vector_norm_out(norm_, x, 2);
    x.div_(norm_.clamp_min_(least_muon_norm));
    at::Tensor gram = part(workspace.gram, shorter, shorter);
    at::Tensor sum = part(workspace.gram_sum, shorter, shorter);
    for (int i = 0; i < muon_iterations; ++i) {
      at::mm_out(gram, x, x.t());
      at::addmm_out(sum, gram, gram, gram, cubic, quintic);
      at::Tensor next = part(i % 2 == 0 ? workspace.second : workspace.first, shorter, longer);
      at::addmm_out(next, x, sum, x, linear, 1);
      x = next;
    }
    return rows > columns ? x.t() : x;
  }

  double rate_factor(const at::Tensor& weights) const {
    const auto rows = static_cast<double>(weights.size(0));
    const auto columns = static_cast<double>(weights.size(1));
    switch (options_.optimizer.muon_adjust_lr) {
      case MuonAdjustLr::match_rms_adamw:
        return 0.2 * std::sqrt(std::max(rows, columns));
      case MuonAdjustLr::original:
        return std::sqrt(std::max(1.0, rows / columns));
    }
    LOCKSTEP_CHECK(false);
  }

  // New values are made beside the old ones, which a skipped step keeps.
  void update_matrix(UpdateRanges& ranges, std::size_t i) {
    const auto& o = options_.optimizer;
    at::Tensor &weights = ranges.weights[i], &gradient = ranges.gradients[i];
    at::Tensor& momentum = ranges.states[0][i];
    const std::int64_t rows = weights.size(0), columns = weights.size(1);
    const MuonWorkspace& workspace = workspaces_.back();
    at::Tensor fresh = part(workspace.momentum, rows, columns);
    at::Tensor wide = part(workspace.wide, rows, columns);
    gradient.div_(numbers_.divisor);  // in fp32: the loss scale is beyond bf16's bits
    at::lerp_out(fresh, momentum, gradient, 1 - o.muon_momentum);
    at::Tensor update = fresh;
    if (o.muon_nesterov) {
      update = part(workspace.wide.view(at::kFloat), rows, columns);
      at::lerp_out(update, gradient, fresh, o.muon_momentum);
    }
    update = orthogonalise(update);
    at::where_out(momentum, skip_, momentum, fresh);
    rate_.copy_(ranges.lr);
    at::mul_out(keep_, rate_, at::Scalar(-ranges.weight_decay)).add_(1);
    at::mul_out(step_, rate_, at::Scalar(-rate_factor(weights)));
    at::mul_out(fresh, weights, keep_);
    add_update(fresh, update, wide);
    at::where_out(weights, skip_, weights, fresh);
    if (!ranges.working.empty()) ranges.working[i].copy_(weights);
  }

  // weights += step_ * update, rounded once, as at::add with a number for `alpha` does it. A number
  // of the host would make a GPU wait, so there the sum is in fp64, in which the product is exact.
  void add_update(at::Tensor& weights, const at::Tensor& update, at::Tensor& wide) {
    if (weights.is_cpu()) {
      weights.add_(update, step_.item<double>());
      return;
    }
    factor_.copy_(step_);
    wide.copy_(update);
    wide.mul_(factor_).add_(weights);
    weights.copy_(wide);
  }

  const TrainOptions& options_;
  UpdateNumbers numbers_;
  std::unique_ptr<OptimizerRule> adamw_;
  at::Tensor skip_;                // bool [1]
  at::Tensor rate_, keep_, step_;  // f64: the rate, 1 - rate * decay, what the update is scaled by
  at::Tensor factor_;              // f32: step_
  at::Tensor norm_;                // bf16
  std::vector<UpdateGroup> groups_;  // of matrices
  std::vector<bool> has_rest_;       // by group: AdamW has something in it
  std::vector<MuonWorkspace> workspaces_;
};

}  // namespace

std::unique_ptr<OptimizerRule> make_muon_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device) {
  return std::make_unique<MuonRule>(options, numbers, device);
}

}  // namespace lockstep
