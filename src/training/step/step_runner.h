// Runs the steps of one rank. It takes the loader's data, and returns the step metrics on the host.
#pragma once

#include "backends/memory_reserve.h"
#include "training/step/step_graphs.h"
#include "training/step/step_inputs.h"
#include "training/step/step_metrics.h"
#include "training/step/train_step.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace lockstep {

// A step that is enqueued and may still be in progress.
class RunningStep {
 public:
  RunningStep(std::int64_t step, const StepMetrics& numbers, std::unique_ptr<Download> download)
      : step_(step), numbers_(&numbers), download_(std::move(download)) {}
  StepResult get();  // blocks until the step metrics are on the host

 private:
  std::int64_t step_;
  const StepMetrics* numbers_;
  std::unique_ptr<Download> download_;
};

// All ranks make the same calls in the same order. Steps run as CUDA graphs where possible
// (StepGraphs), else without a graph. All calls must come from one thread.
class StepRunner {
 public:
  explicit StepRunner(const StepParts& parts);

  StagedStep stage(StepData data);
  StagedStep stage_nothing() { return stage_.stage_nothing(); }  // see StepStage::stage_nothing
  bool all_have_data(const StagedStep& staged) const { return stage_.all_have_data(staged); }
  RunningStep run(StagedStep staged, double lr, const RankReport& report);
  // Makes the update of the last step if it is deferred. Call it before anything but another step
  // uses the weights.
  void flush_update() { step_.flush_update(); }
  // Returns the outcome of a new capture (StepGraphs::take_news).
  std::optional<GraphState> take_graph_news() { return graphs_.take_news(); }
  const GraphCounts& graph_counts() const { return graphs_.counts(); }
  // The last out-of-memory message of this rank, one line. It is empty if memory did not run out.
  const std::string& out_of_memory_text() const { return reserve_.text(); }
  // Call it after a step with `dropped` or `not_finite`. Deletes the graphs, because later steps
  // may have other micro-batches. Later steps change weights again.
  void reset_after_drop();
  // Deletes the graphs and frees their device memory. Later steps are captured again. All ranks
  // call it, between steps.
  void release_graphs();
  // From the next step on, all blocks of the model are recomputed in backward. Call it before
  // `reset_after_drop`.
  void recompute_all_blocks() { step_.recompute_all_blocks(); }
  // Finds the tensor that made a step not finite (TrainStep::find_not_finite).
  NotFinite find_not_finite(StagedStep staged);

 private:
  Backend& backend_;
  StepMetrics numbers_;
  MemoryReserve reserve_;
  StepStage stage_;
  TrainStep step_;
  StepGraphs graphs_;
};

}  // namespace lockstep
