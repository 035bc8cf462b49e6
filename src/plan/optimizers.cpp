#include "plan/optimizers.h"

#include "base/check.h"

namespace lockstep {

std::vector<std::string> optimizer_states(const TrainOptions& options) {
  switch (options.optimizer.kind) {
    case OptimizerKind::adamw:
    case OptimizerKind::adam:
      return {"exp_avg", "exp_avg_sq"};
    case OptimizerKind::sgd:
      if (options.optimizer.momentum == 0) return {};
      return {"momentum"};
  }
  LOCKSTEP_CHECK(false);
}

}  // namespace lockstep
