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

// Small tensors that updates need besides, made once. One update runs at a time.
struct MuonScratch {
  at::Tensor skip;              // bool [1]
  at::Tensor rate, keep, step;  // f64: the rate, 1 - rate * decay, what the update is scaled by
  at::Tensor factor;            // f32: step
  at::Tensor norm;              // bf16
};

class PreparedMuon : public PreparedUpdate {
 public:
  // groups: of matrices. rest: what AdamW updates of each group; null: nothing.
  PreparedMuon(const TrainOptions& options, const UpdateNumbers& numbers,
               const MuonScratch& scratch, std::shared_ptr<const MuonWorkspace> workspace,
               std::vector<UpdateGroup> groups, std::shared_ptr<const PreparedUpdate> rest,
               std::vector<bool> has_rest)
      : options_(options),
        numbers_(numbers),
        scratch_(scratch),
        workspace_(std::move(workspace)),
        groups_(std::move(groups)),
        rest_(std::move(rest)),
        has_rest_(std::move(has_rest)) {}

  void begin() const override {
    const at::NoGradGuard no_grad;
    at::Tensor skip = scratch_.skip;
    at::gt_out(skip, numbers_.skip, 0);
    if (rest_ != nullptr) rest_->begin();
  }

  void update(std::size_t group) const override {
    const at::NoGradGuard no_grad;
    for (const UpdateRanges& ranges : groups_[group])
      for (std::size_t i = 0; i < ranges.weights.size(); ++i) update_matrix(ranges, i);
    if (has_rest_[group]) rest_->update(group);
  }

  // A sparse parameter is AdamW's.
  std::optional<OwedRows> owed_rows(std::size_t group) const override {
    return has_rest_[group] && groups_[group].empty() ? rest_->owed_rows(group) : std::nullopt;
  }

 private:
  static at::Tensor part(const at::Tensor& flat, std::int64_t rows, std::int64_t columns) {
    return flat.narrow(0, 0, rows * columns).view({rows, columns});
  }

  // momentum: f32 [rows, columns]. Returns a bf16 view of the workspace in that shape.
  at::Tensor orthogonalise(const at::Tensor& momentum) const {
    const MuonWorkspace& workspace = *workspace_;
    const std::int64_t rows = momentum.size(0), columns = momentum.size(1);
    const std::int64_t shorter = std::min(rows, columns), longer = std::max(rows, columns);
    at::Tensor x = part(workspace.first, rows, columns);
    x.copy_(momentum);
    if (rows > columns) x = x.t();
    at::Tensor norm = scratch_.norm;
    at::linalg_vector_norm_out(norm, x, 2);
    x.div_(norm.clamp_min_(least_muon_norm));
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
  void update_matrix(const UpdateRanges& ranges, std::size_t i) const {
    const auto& o = options_.optimizer;
    at::Tensor weights = ranges.weights[i], momentum = ranges.states[0][i];
    at::Tensor keep = scratch_.keep, step = scratch_.step;
    const at::Tensor& gradient = ranges.gradients[i];
    const std::int64_t rows = weights.size(0), columns = weights.size(1);
    const MuonWorkspace& workspace = *workspace_;
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
    at::where_out(momentum, scratch_.skip, momentum, fresh);
    scratch_.rate.copy_(ranges.lr);
    at::mul_out(keep, scratch_.rate, at::Scalar(-ranges.weight_decay)).add_(1);
    at::mul_out(step, scratch_.rate, at::Scalar(-rate_factor(weights)));
    at::mul_out(fresh, weights, keep);
    add_update(fresh, update, wide);
    at::where_out(weights, scratch_.skip, weights, fresh);
    if (!ranges.working.empty()) ranges.working[i].copy_(weights);
  }

  // weights += step * update, rounded once, as at::add with a number for `alpha` does it. A number
  // of the host would make a GPU wait, so there the sum is in fp64, in which the product is exact.
  void add_update(at::Tensor& weights, const at::Tensor& update, at::Tensor& wide) const {
    if (weights.is_cpu()) {
      weights.add_(update, scratch_.step.item<double>());
      return;
    }
    scratch_.factor.copy_(scratch_.step);
    wide.copy_(update);
    wide.mul_(scratch_.factor).add_(weights);
    weights.copy_(wide);
  }

  const TrainOptions& options_;
  UpdateNumbers numbers_;
  MuonScratch scratch_;
  std::shared_ptr<const MuonWorkspace> workspace_;  // null: no matrices
  std::vector<UpdateGroup> groups_;
  std::shared_ptr<const PreparedUpdate> rest_;
  std::vector<bool> has_rest_;  // by group
};

class MuonRule : public OptimizerRule {
 public:
  MuonRule(const TrainOptions& options, const UpdateNumbers& numbers, at::Device device)
      : options_(options), numbers_(numbers), adamw_(make_adam_rule(options, numbers, device)) {
    const auto f32 = numbers.skip.options(), f64 = f32.dtype(at::kDouble);
    scratch_ = {.skip = at::empty({1}, f32.dtype(at::kBool)),
                .rate = at::empty({}, f64),
                .keep = at::empty({}, f64),
                .step = at::empty({}, f64),
                .factor = at::empty({}, f32),
                .norm = at::empty({}, f32.dtype(at::kBFloat16))};
  }

  std::shared_ptr<const PreparedUpdate> prepare(std::vector<UpdateGroup> groups,
                                                const at::Tensor& /*dirty*/) override {
    make_workspace_for(groups);
    std::vector<UpdateGroup> own(groups.size()), rest(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (UpdateRanges& ranges : groups[g])
        (ranges.matrices ? own : rest)[g].push_back(std::move(ranges));
    std::vector<bool> has_rest;
    for (const UpdateGroup& group : rest) has_rest.push_back(!group.empty());
    std::shared_ptr<const PreparedUpdate> prepared;
    if (std::find(has_rest.begin(), has_rest.end(), true) != has_rest.end())
      prepared = adamw_->prepare(std::move(rest), {});
    return std::make_shared<PreparedMuon>(options_, numbers_, scratch_, workspace_, std::move(own),
                                          std::move(prepared), std::move(has_rest));
  }

 private:
  // A larger one where the last is too small. Those that were prepared with it keep it.
  void make_workspace_for(const std::vector<UpdateGroup>& groups) {
    std::int64_t elements = 0, products = 0;
    for (const UpdateGroup& group : groups)
      for (const UpdateRanges& ranges : group)
        if (ranges.matrices)
          for (const at::Tensor& weights : ranges.weights) {
            const std::int64_t shorter = std::min(weights.size(0), weights.size(1));
            elements = std::max(elements, weights.numel());
            products = std::max(products, shorter * shorter);
          }
    if (elements == 0) return;
    if (workspace_ != nullptr && workspace_->momentum.numel() >= elements &&
        workspace_->gram.numel() >= products)
      return;
    const auto make = [&](std::int64_t size, at::ScalarType dtype) {
      return at::empty({size}, numbers_.skip.options().dtype(dtype));
    };
    workspace_ =
        std::make_shared<MuonWorkspace>(MuonWorkspace{.momentum = make(elements, at::kFloat),
                                                      .wide = make(elements, at::kDouble),
                                                      .first = make(elements, at::kBFloat16),
                                                      .second = make(elements, at::kBFloat16),
                                                      .gram = make(products, at::kBFloat16),
                                                      .gram_sum = make(products, at::kBFloat16)});
  }

  const TrainOptions& options_;
  UpdateNumbers numbers_;
  std::unique_ptr<OptimizerRule> adamw_;
  MuonScratch scratch_;
  std::shared_ptr<const MuonWorkspace> workspace_;  // null: no matrices so far
};

}  // namespace

std::unique_ptr<OptimizerRule> make_muon_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device) {
  return std::make_unique<MuonRule>(options, numbers, device);
}

}  // namespace lockstep
