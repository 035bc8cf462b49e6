// SGD with momentum, by ATen's fused optimizer.
#include "engine/optimizer_rule.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sgd.h>

#include <utility>

namespace lockstep {
namespace {

class SgdRule : public OptimizerRule {
 public:
  SgdRule(const TrainOptions& options, UpdateNumbers numbers)
      : options_(options), numbers_(std::move(numbers)) {}

  void set_groups(std::vector<UpdateGroup> groups) override { groups_ = std::move(groups); }

  void update(std::size_t group) override {
    const at::NoGradGuard no_grad;
    const auto& o = options_.optimizer;
    for (UpdateRanges& ranges : groups_[group]) {
      // Without momentum ATen wants no buffers at all.
      const std::vector<at::Tensor> momentum =
          ranges.states.empty() ? std::vector<at::Tensor>{} : ranges.states[0];
      at::_fused_sgd_(ranges.weights, ranges.gradients, momentum, ranges.weight_decay, o.momentum,
                      ranges.lr, /*dampening=*/0.0, o.nesterov, /*maximize=*/false,
                      /*is_first_step=*/false, numbers_.divisor, numbers_.skip);
      for (std::size_t i = 0; i < ranges.working.size(); ++i)
        ranges.working[i].copy_(ranges.weights[i]);
    }
  }

 private:
  const TrainOptions& options_;
  UpdateNumbers numbers_;
  std::vector<UpdateGroup> groups_;
};

}  // namespace

std::unique_ptr<OptimizerRule> make_sgd_rule(const TrainOptions& options,
                                             const UpdateNumbers& numbers) {
  return std::make_unique<SgdRule>(options, numbers);
}

}  // namespace lockstep
