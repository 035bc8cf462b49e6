#include "tools/cli/bench/trial.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "planning/batch/micro_batch.h"
#include "runtime/launch/launch.h"
#include "runtime/run/curves/steady_steps.h"
#include "runtime/run/events/start_up.h"
#include "runtime/run/progress/run_times.h"
#include "tools/cli/context.h"
#include "tools/cli/run_end.h"
#include "tools/cli/train/train.h"

namespace lockstep::cli {
namespace {

constexpr double trial_s = 10;

// The same training without evaluations, checkpoints and early stops.
RunSetup short_training(const RunSetup& setup) {
  RunSetup trial = setup_from_json(setup_to_json(setup));
  TrainOptions& train = *trial.train;
  train.stop.after = train.stop.reserve = {};
  train.stop.budget = {trial_s};
  train.stop.patience = 0;
  train.stop.patience_epochs = 0;
  train.eval.every_steps = 0;
  train.eval.every_epochs = 0;
  train.eval.at_start = false;
  train.eval.keep = 0;
  train.checkpoint.every = {};
  train.checkpoint.every_steps = 0;
  train.checkpoint.every_epochs = 0;
  train.run.record_samples = false;
  train.log.every_steps = 1;
  train.log.tensorboard = false;
  train.profile.first_step = 0;
  trial.prepared.keep = setup.prepared.keep;
  trial.times = nullptr;
  return trial;
}

}  // namespace

MeasuredTimes measure_times(const RunSetup& setup) {
  const RunSetup trial = short_training(setup);
  const TemporaryDirectory scratch;
  RunDir run = RunDir::create(scratch.path(), "trial", setup.recipe, [&](RunDir& fresh) {
    fresh.lock();
    write_start(trial, fresh, false);
  });
  LaunchSpec spec;
  spec.argv = {worker_program().string(), "train", "--run", run.path().string(), "--trial"};
  spec.devices = setup.plan.devices;
  spec.log_dir = run.make_logs();
  spec.knows_hangup = true;
  spec.environment["LOCKSTEP_START"] = start_variable(begin_s(), system_clock().now_s());
  RunTimes times;
  SteadySteps steps;
  spec.on_event = [&](const nlohmann::json& event) {
    times.on_event(event);
    steps.on_event(event);
  };
  bool interrupted = false;
  spec.on_signal = [&](int) { interrupted = true; };
  const LaunchOutcome outcome = launch(spec, system_clock());
  if (!std::holds_alternative<Finished>(outcome) && !std::holds_alternative<Stopped>(outcome))
    throw ToldAlready{report_reading(outcome)};
  if (interrupted) {
    say("interrupted: the trial tells nothing");
    throw ToldAlready{exit_interrupted};
  }
  MeasuredTimes measured{.parts = times.mean(), .source = TimeSource::trial};
  const StepRange range = steps.range();
  measured.parts.step_s = range.typical_s;
  measured.fast_step_s = range.fast_s;
  measured.slow_step_s = range.slow_s;
  if (measured.parts.step_s == 0)
    throw Error(cat("the trial of ", trial_s, " seconds was over before a second step was"),
                "train with stop.after=10m: the plan of the next run goes by what that took");
  return measured;
}

}  // namespace lockstep::cli
