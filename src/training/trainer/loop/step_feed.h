// The data of the next step: the loader, how many threads it has, and the micro-batches it makes.
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

  const BatchPlan& batch() const { return batch_; }  // as it is now
  // From step `step` on (0: the first), in micro-batches of `batch`. A staged step is forgotten.
  void start(std::int64_t step, const BatchPlan& batch);
  // Whether batch.micro_changes asks for another micro-batch before step `step`, and the batch
  // then.
  bool change_due(std::int64_t step) const;
  BatchPlan take_change(std::int64_t step);
  // Forgets the changes that are due at `step`, where a run that resumes begins.
  void skip_changes(std::int64_t step);
  // Stages the next step. An exception of the data is kept: see `has_data`.
  void fetch();
  // Whether every rank has the data of the step that is staged; false: it cannot be taken, and on
  // ranks whose own data failed `failure` says why.
  bool has_data() const;
  std::exception_ptr failure() const { return failure_; }
  StagedStep take();
  // Nothing waits to be taken any more. `start` does so too.
  void forget_staged();
  // The data of the next step, staged as `fetch` does but not kept; `samples` gets this rank's.
  StagedStep fetch_apart(std::vector<std::int64_t>& samples);
  // The samples of the staged step, of all ranks; with run.record_samples only.
  const std::vector<std::int64_t>& samples() const { return samples_; }

  double take_wait_s();  // that `fetch` waited for the loader since the last call
  // After each step: with data.threads unset, one more loader thread where steps wait for data.
  // Then: the share of their time that they did.
  std::optional<double> adapt();
  std::int64_t threads() const { return threads_.count(); }

 private:
  void gather_samples(const StepData& data);

  const TrainerSetup& setup_;
  std::shared_ptr<const Dataset> data_;
  StepRunner& runner_;
  BatchPlan batch_;
  std::vector<MicroChange> changes_;  // asked for
  LoaderThreads threads_;
  std::unique_ptr<Loader> loader_;
  std::optional<StagedStep> staged_;
  std::exception_ptr failure_;  // of the loader, in the place of what is staged
  std::vector<std::int64_t> samples_;
  double wait_s_ = 0;
};

}  // namespace lockstep
