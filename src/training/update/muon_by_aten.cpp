// Muon with ATen's operators, one matrix at a time. The momentum is orthogonalised by a
// Newton-Schulz iteration in bf16. The operations and their order are those of torch.optim.Muon in
// torch 2.11. On the same CPU the results are bitwise equal, at rates that f32 represents exactly.
#include "training/update/muon_matrices.h"

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

// Buffers that are large enough for the largest matrix that a rank updates. update_workspace_bytes
// (planning/options/optimizers.cpp) counts them. An update itself allocates no other buffers. So a
// lack of memory for them shows before anything changes. ATen's operations may still need scratch
// memory.
struct MuonWorkspace {
  at::Tensor momentum;        // f32; later the new weights
  at::Tensor wide;            // f64; before that, its first half holds the update in f32
  at::Tensor first, second;   // bf16
  at::Tensor gram, gram_sum;  // bf16, [shorter side, shorter side]
};

// Other small tensors that updates need, allocated once. Only one update runs at a time.
struct MuonScratch {
  at::Tensor skip;              // bool [1]
  at::Tensor rate, keep, step;  // f64 each: the rate, 1 - rate * decay, the factor of the update
  at::Tensor factor;            // f32 copy of `step`
  at::Tensor norm;              // bf16
};

class PreparedMuonByAten : public PreparedUpdate {
 public:
  PreparedMuonByAten(const TrainOptions& options, const UpdateNumbers& numbers,
                     const MuonScratch& scratch, std::shared_ptr<const MuonWorkspace> workspace,
                     std::vector<UpdateGroup> groups)
      : options_(options),
        numbers_(numbers),
        scratch_(scratch),
        workspace_(std::move(workspace)),
        groups_(std::move(groups)) {}

  void begin() const override {
    const at::NoGradGuard no_grad;
    at::Tensor skip = scratch_.skip;
    at::gt_out(skip, numbers_.skip, 0);
  }

  void update(std::size_t group) const override {
    const at::NoGradGuard no_grad;
    for (const UpdateRanges& ranges : groups_[group])
      for (std::size_t i = 0; i < ranges.weights.size(); ++i) update_matrix(ranges, i);
  }

 private:
  static at::Tensor part(const at::Tensor& flat, std::int64_t rows, std::int64_t columns) {
    return flat.narrow(0, 0, rows * columns).view({rows, columns});
  }

  // momentum: f32 [rows, columns]. Returns a bf16 view of the workspace, in the same shape.
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
      at::addmm_out(sum, gram, gram, gram, muon_cubic, muon_quintic);
      at::Tensor next = part(i % 2 == 0 ? workspace.second : workspace.first, shorter, longer);
      at::addmm_out(next, x, sum, x, muon_linear, 1);
      x = next;
    }
    return rows > columns ? x.t() : x;
  }

  // Writes new values next to the old ones, because a skipped step keeps the old values.
  void update_matrix(const UpdateRanges& ranges, std::size_t i) const {
    const auto& o = options_.optimizer;
    at::Tensor weights = ranges.weights[i], momentum = ranges.states[0][i];
    at::Tensor keep = scratch_.keep, step = scratch_.step;
    const at::Tensor& gradient = ranges.gradients[i];
    const std::int64_t rows = weights.size(0), columns = weights.size(1);
    const MuonWorkspace& workspace = *workspace_;
    at::Tensor fresh = part(workspace.momentum, rows, columns);
    at::Tensor wide = part(workspace.wide, rows, columns);
    gradient.div_(numbers_.divisor);  // in fp32, because bf16 has too few bits for the loss scale
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
    at::mul_out(step, scratch_.rate, at::Scalar(-muon_rate_factor(options_, rows, columns)));
    at::mul_out(fresh, weights, keep);
    add_update(fresh, update, wide);
    at::where_out(weights, scratch_.skip, weights, fresh);
    if (!ranges.working.empty()) ranges.working[i].copy_(weights);
  }

  // weights += step * update, rounded once, like at::add with a number as `alpha`. On a GPU the
  // host would have to wait for that number. So the sum is computed there in fp64, in which the
  // product is exact.
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
  std::shared_ptr<const MuonWorkspace> workspace_;  // null = no matrices
  std::vector<UpdateGroup> groups_;
};

class MuonByAten : public OptimizerRule {
 public:
  MuonByAten(const TrainOptions& options, const UpdateNumbers& numbers)
      : options_(options), numbers_(numbers) {
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
    return std::make_shared<PreparedMuonByAten>(options_, numbers_, scratch_, workspace_,
                                                std::move(groups));
  }

 private:
  // Allocates a larger workspace if the last one is too small. Updates that were prepared with the
  // old one keep it.
  void make_workspace_for(const std::vector<UpdateGroup>& groups) {
    std::int64_t elements = 0, products = 0;
    for (const UpdateGroup& group : groups)
      for (const UpdateRanges& ranges : group)
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
  MuonScratch scratch_;
  std::shared_ptr<const MuonWorkspace> workspace_;  // null = no matrices so far
};

}  // namespace

std::unique_ptr<OptimizerRule> make_muon_by_aten(const TrainOptions& options,
                                                 const UpdateNumbers& numbers) {
  return std::make_unique<MuonByAten>(options, numbers);
}

}  // namespace lockstep
