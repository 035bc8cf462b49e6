#include "training/step/step_runner.h"

#include "runtime/launch/watch/heartbeat.h"

#include <ATen/core/grad_mode.h>

#include <utility>

namespace lockstep {

StepResult RunningStep::get() {
  enter_phase(Phase::device);
  const at::Tensor host = download_->get();
  beat();
  return numbers_->read(step_, host);
}

StepRunner::StepRunner(const StepParts& parts)
    : backend_(parts.backend),
      numbers_(parts.recipe.terms().size(), parts.recipe.logged().size(), parts.group.rank(),
               parts.group.size()),
      reserve_(parts.backend),
      stage_(parts.recipe.terms().size(), parts.options.seed, numbers_, parts.group, parts.backend,
             reserve_),
      step_(parts, numbers_, reserve_),
      graphs_(parts.options, parts.group, parts.backend, step_) {}

StagedStep StepRunner::stage(StepData data) { return stage_.stage(std::move(data)); }

RunningStep StepRunner::run(StagedStep staged, double lr, const RankReport& report) {
  const std::int64_t step = staged.data.step + 1;
  const StepInputs inputs = stage_.take(std::move(staged), lr, report);
  graphs_.record_if_due(inputs);
  const at::Tensor numbers =
      graphs_.serves(inputs) ? graphs_.replay(inputs) : step_.enqueue(inputs);
  graphs_.count_step(inputs);
  return {step, numbers_, reserve_.retry([&] { return backend_.download(numbers); })};
}

void StepRunner::release_graphs() {
  backend_.synchronize();
  graphs_.reset();
  backend_.release_cached_memory();
}

void StepRunner::reset_after_drop() {
  const at::NoGradGuard no_grad;
  flush_update();
  release_graphs();
  step_.reset();
}

NotFinite StepRunner::find_not_finite(StagedStep staged) {
  return step_.find_not_finite(stage_.take(std::move(staged), 0, {}));
}

}  // namespace lockstep
