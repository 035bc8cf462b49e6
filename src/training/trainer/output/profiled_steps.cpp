#include "training/trainer/output/profiled_steps.h"

#include "core/base/text/text.h"

namespace lockstep {

void ProfiledSteps::before_step(std::int64_t step) {
  const auto& asked = setup_.options.profile;
  if (asked.first_step == 0) return;
  if (step == asked.first_step) {
    setup_.backend.synchronize();
    profile_.emplace(!setup_.backend.device().is_cpu());
  }
  if (step == asked.first_step + asked.steps) finish();
}

void ProfiledSteps::finish() {
  if (!profile_) return;
  setup_.backend.synchronize();
  profile_->finish(setup_.run.path() / "profile" / cat("rank", setup_.group.rank(), ".json"));
  profile_.reset();
}

}  // namespace lockstep
