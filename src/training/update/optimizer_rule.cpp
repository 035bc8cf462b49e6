#include "training/update/optimizer_rule.h"

#include "core/base/check.h"

namespace lockstep {

std::unique_ptr<OptimizerRule> make_optimizer_rule(const TrainOptions& options,
                                                   const UpdateNumbers& numbers,
                                                   at::Device device) {
  switch (options.optimizer.kind) {
    case OptimizerKind::adamw:
    case OptimizerKind::adam:
      return make_adam_rule(options, numbers, device);
    case OptimizerKind::sgd:
      return make_sgd_rule(options, numbers);
    case OptimizerKind::muon:
      return make_muon_rule(options, numbers, device);
  }
  LOCKSTEP_CHECK(false);
}

}  // namespace lockstep
