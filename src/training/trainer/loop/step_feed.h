// Provides the data of the next step. It owns the loader, and decides about the loader's threads
// and the micro-batch.
#pragma once

#include "planning/batch/micro_batch.h"
#include "training/data/loader.h"
#include "training/step/step_runner.h"
#include "training/trainer/loop/loader_threads.h"
#include "training/trainer/trainer.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace lockstep {

// Keeps one step staged in advance: its data is loaded and its upload has begun (StepStage). All
// ranks make the same calls in the same order. All calls must come from one thread.
class StepFeed {
 public:
  // `setup` and `runner` must outlive this object.
  StepFeed(const TrainerSetup& setup, std::shared_ptr<const Dataset> data, StepRunner& runner);

  const BatchPlan& batch() const { return batch_; }  // the batch of the steps that are loaded now
  // Starts to load from step `step` on, counted from 0, in micro-batches of `batch`. Drops the
  // staged step.
  void start(std::int64_t step, const BatchPlan& batch);
  // change_due says whether batch.micro_changes demands another micro-batch from step `step` on.
  // take_change returns batch() with this micro-batch, and removes the change.
  bool change_due(std::int64_t step) const;
  BatchPlan take_change(std::int64_t step);
  // Removes all changes up to step `step`, at which a resumed run begins.
  void skip_changes(std::int64_t step);
  // Stages the next step. If reading its data throws an exception, keeps the exception for
  // `failure`.
  void fetch();
  // has_data says whether every rank has the data of the staged step. If has_data returns false, do
  // not call `take`. On ranks whose data could not be read, failure() then returns the exception.
  // On other ranks, failure() returns null.
  bool has_data() const;
  std::exception_ptr failure() const { return failure_; }
  StagedStep take();
  // Drops the staged step. `start` calls it.
  void forget_staged();
  // Stages the next step and returns it instead of keeping it. `samples` gets this rank's samples.
  StagedStep fetch_apart(std::vector<std::int64_t>& samples);
  // The samples of the staged step on all ranks, in row order. The list is known only if
  // run.record_samples is true.
  const std::vector<std::int64_t>& samples() const { return samples_; }

  // Seconds that `fetch` waited for the loader since the last call of take_wait_s.
  double take_wait_s();
  // Call it after each step. If data.threads is unset and steps wait for data, adds loader threads.
  // Returns the result of LoaderThreads::step_done.
  std::optional<double> adapt();
  std::int64_t threads() const { return threads_.count(); }

 private:
  void gather_samples(const StepData& data);

  const TrainerSetup& setup_;
  std::shared_ptr<const Dataset> data_;
  StepRunner& runner_;
  BatchPlan batch_;
  // The changes of batch.micro_changes that have not been made yet.
  std::vector<MicroChange> changes_;
  LoaderThreads threads_;
  std::unique_ptr<Loader> loader_;
  std::optional<StagedStep> staged_;
  std::exception_ptr failure_;  // the exception that the loader threw in `fetch`
  std::vector<std::int64_t> samples_;
  double wait_s_ = 0;
};

}  // namespace lockstep
