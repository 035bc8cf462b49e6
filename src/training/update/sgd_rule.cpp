// SGD with momentum, by ATen's fused optimizer.
#include "training/update/aten_rule.h"

#include <ATen/ops/_fused_sgd.h>

namespace lockstep {

std::unique_ptr<OptimizerRule> make_sgd_rule(const TrainOptions& options,
                                             const UpdateNumbers& numbers) {
  return std::make_unique<AtenRule>([&o = options.optimizer, numbers](const UpdateRanges& ranges) {
    // Without momentum, ATen requires an empty list of buffers.
    const std::vector<at::Tensor> momentum =
        ranges.states.empty() ? std::vector<at::Tensor>{} : ranges.states[0];
    at::_fused_sgd_(ranges.weights, ranges.gradients, momentum, ranges.weight_decay, o.momentum,
                    ranges.lr, /*dampening=*/0.0, o.nesterov, /*maximize=*/false,
                    /*is_first_step=*/false, numbers.divisor, numbers.skip);
  });
}

}  // namespace lockstep
