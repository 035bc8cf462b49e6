// Runs the steps of one rank, from the loader's data to the step metrics on the host.
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

// A step that is in progress.
class RunningStep {
 public:
  RunningStep(std::int64_t step, const StepMetrics& numbers, std::unique_ptr<Download> download)
      : step_(step), numbers_(&numbers), download_(std::move(download)) {}
  StepResult get();  // blocks until its step metrics are on the host

 private:
  std::int64_t step_;
  const StepMetrics* numbers_;
  std::unique_ptr<Download> download_;
};

// All ranks make the same calls in the same order. After some steps, a step whose data shapes were
// seen before becomes a graph, if possible. Other steps run without a graph. One thread.
class StepRunner {
 public:
  explicit StepRunner(const StepParts& parts);

  StagedStep stage(StepData data);
  StagedStep stage_nothing() { return stage_.stage_nothing(); }  // see StepStage
  bool all_have_data(const StagedStep& staged) const { return stage_.all_have_data(staged); }
  RunningStep run(StagedStep staged, double lr, const RankReport& report);
  // All work enqueued from now on sees the weights of the last step, and the storage holds them.
  // Call it before anything but another step uses the weights.
  void flush_update() { step_.flush_update(); }
  // Returns the outcome of the last capture of a graph, once.
  std::optional<GraphState> take_graph_news() { return graphs_.take_news(); }
  const GraphCounts& graph_counts() const { return graphs_.counts(); }
  // The error message of this rank's last lack of memory, one line; empty: there was none.
  const std::string& out_of_memory_text() const { return reserve_.text(); }
  // Call it after a step that was dropped or not finite. Later steps may have other micro-batches,
  // which need another graph.
  void reset_after_drop();
  // All ranks call it, between steps. Frees the device memory of the graphs. They are captured
  // again later.
  void release_graphs();
  void recompute_all_blocks() { step_.recompute_all_blocks(); }  // before `reset_after_drop`
  // See TrainStep::find_not_finite.
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
