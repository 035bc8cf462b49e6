// Runs the training of one rank: the start, the steps, the work between steps, and the end
// (docs/design/trainer.md).
#pragma once

#include "training/step/step_runner.h"
#include "training/trainer/kept_buffers.h"
#include "training/trainer/loop/dropped_step.h"
#include "training/trainer/loop/step_feed.h"
#include "training/trainer/output/checkpoints.h"
#include "training/trainer/output/link_speed.h"
#include "training/trainer/output/prediction_reserve.h"
#include "training/trainer/output/profiled_steps.h"
#include "training/trainer/output/recorder.h"
#include "training/trainer/output/validation.h"
#include "training/trainer/placed_model.h"
#include "training/trainer/stopping/agreed_time.h"
#include "training/trainer/stopping/due.h"
#include "training/trainer/stopping/stop.h"
#include "training/trainer/stopping/time_ahead.h"
#include "training/trainer/trainer.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>

namespace lockstep {

// Other files implement the parts of the loop:
//   - a step: training/step/step_runner.h; its data: step_feed.h
//   - which work is due: due.h; steps that changed nothing: dropped_step.h
//   - evaluations: validation.h; checkpoints: checkpoints.h; events: recorder.h
// The order of the members matters, because they are destroyed in reverse order.
class Loop {
 public:
  explicit Loop(const TrainerSetup& setup);
  TrainEnd run();

 private:
  // loop_start.cpp: the work before the first step.
  void start();
  void restore_or_start();
  void watch_the_time();
  void begin_record();
  void open_parts();
  void make_up_for_evaluation();
  // Records that the time since the last call was spent on `part` of the start-up. Does nothing
  // after the first step.
  void started(const char* part);

  // loop.cpp: the sequence of steps.
  int steps_ahead() const { return setup_.backend.device().is_cpu() ? 0 : 1; }
  bool at_end() const { return step_ >= setup_.plan.total_steps; }
  void train_steps();
  void run_step();
  void fetch();
  void drain(std::size_t keep);
  bool all_happened();
  void on_result(const StepResult& result);
  void on_first_result(const StepResult& result);

  // loop_between_steps.cpp: the work that is due between two steps.
  void do_what_is_due();
  void check_weights();
  bool owes_evaluation();
  bool evaluate(double limit_s = std::numeric_limits<double>::infinity());
  Validation::Outcome run_evaluation(double limit_s);
  double evaluation_limit_s();
  void lose_patience();
  void save(bool forced);

  // loop_recovery.cpp: recovery from steps that changed nothing, and the end if a step has no data.
  bool recover_if_dropped();
  void repeat_in_less(const StepResult& result);
  void leave_out(const StepResult& result);
  void change_batch(const BatchPlan& batch);
  void end_without_data();

  // loop_end.cpp: the end of the run.
  TrainEnd finish(TrainEnd end);
  std::optional<double> left_for_what_follows() const;

  const TrainerSetup& setup_;
  const TrainOptions& options_;
  std::optional<KnownLink> link_;
  StartingPoint start_;
  PlacedModel placed_;
  GradientBuffers gradients_;
  Optimizer optimizer_;
  Reducer reducer_;
  StepRunner runner_;
  DatasetPair data_;
  KeptBuffers buffers_;
  DroppedSteps dropped_;
  SaveSchedule saves_;
  ProfiledSteps profile_;
  std::unique_ptr<Quota> quota_;
  std::unique_ptr<StopDecision> stop_;
  std::unique_ptr<TimeAhead> ahead_;
  std::unique_ptr<Recorder> recorder_;  // null on ranks other than 0
  std::unique_ptr<AgreedTime> time_;
  std::unique_ptr<PredictionReserve> predictions_;
  Checkpoints checkpoints_;
  std::unique_ptr<Validation> validation_;
  std::unique_ptr<StepFeed> feed_;
  std::deque<RunningStep> running_;

  std::int64_t step_ = 0;    // number of steps that were enqueued
  double step_begin_s_ = 0;  // time of the last step's result, or of the end of the work after it
  double wait_s_ = 0;        // time that this rank waited for other ranks since its last report
  double save_s_ = 0;        // time of saves since the last recorded step
  bool first_step_done_ = false;
};

}  // namespace lockstep
