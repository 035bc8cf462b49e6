// Provides the data of the next step. It has the loader, the number of its threads, and the sizes
// of the micro-batches.
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

// Keeps one step staged ahead. All ranks make the same calls in the same order. One thread.
class StepFeed {
 public:
  // runner: outlives it.
  StepFeed(const TrainerSetup& setup, std::shared_ptr<const Dataset> data, StepRunner& runner);

  const BatchPlan& batch() const { return batch_; }  // the present batch
  // Loads from step `step` on (0: the first), in micro-batches of `batch`. Drops a staged step.
  void start(std::int64_t step, const BatchPlan& batch);
  // change_due: whether batch.micro_changes asks for another micro-batch before step `step`.
  // take_change: returns the batch with it.
  bool change_due(std::int64_t step) const;
  BatchPlan take_change(std::int64_t step);
  // Drops the changes that are due at `step`, at which a resumed run begins.
  void skip_changes(std::int64_t step);
  // Stages the next step. If the data throw an exception, keeps it (see `has_data`).
  void fetch();
  // Whether every rank has the data of the staged step. If false, the step cannot be taken. On
  // ranks whose own data failed, `failure` returns the exception.
  bool has_data() const;
  std::exception_ptr failure() const { return failure_; }
  StagedStep take();
  // Drops the staged step. `start` does so too.
  void forget_staged();
  // Returns the data of the next step, staged as by `fetch`, but does not keep them. `samples` gets
  // this rank's samples.
  StagedStep fetch_apart(std::vector<std::int64_t>& samples);
  // The samples of the staged step, of all ranks. Only with run.record_samples.
  const std::vector<std::int64_t>& samples() const { return samples_; }

  double take_wait_s();  // the time that `fetch` waited for the loader since the last call
  // Call it after each step. If data.threads is unset and steps wait for data, adds loader threads.
  // Then it returns the share of the steps' time that was spent waiting.
  std::optional<double> adapt();
  std::int64_t threads() const { return threads_.count(); }

 private:
  void gather_samples(const StepData& data);

  const TrainerSetup& setup_;
  std::shared_ptr<const Dataset> data_;
  StepRunner& runner_;
  BatchPlan batch_;
  std::vector<MicroChange> changes_;  // the changes of batch.micro_changes that are still to come
  LoaderThreads threads_;
  std::unique_ptr<Loader> loader_;
  std::optional<StagedStep> staged_;
  std::exception_ptr failure_;  // the loader's exception, in place of the staged step
  std::vector<std::int64_t> samples_;
  double wait_s_ = 0;
};

}  // namespace lockstep
