// The steps of one rank, from the loader's data to the numbers on the host.
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

// A step under way.
class RunningStep {
 public:
  RunningStep(std::int64_t step, const StepMetrics& numbers, std::unique_ptr<Download> download)
      : step_(step), numbers_(&numbers), download_(std::move(download)) {}
  StepResult get();  // blocks until its numbers are on the host

 private:
  std::int64_t step_;
  const StepMetrics* numbers_;
  std::unique_ptr<Download> download_;
};

// All ranks make the same calls in the same order. After some steps, a step whose data have shapes
// that were seen before becomes a graph where it can; others run without one. One thread.
class StepRunner {
 public:
  explicit StepRunner(const StepParts& parts);

  StagedStep stage(StepData data);
  StagedStep stage_nothing() { return stage_.stage_nothing(); }  // see StepStage
  bool all_have_data(const StagedStep& staged) const { return stage_.all_have_data(staged); }
  RunningStep run(StagedStep staged, double lr, const RankReport& report);
  // All work enqueued from now on sees the weights of the last step, and those of the storage are:
  // to be called before anything but another step uses them.
  void flush_update() { step_.flush_update(); }
  // The outcome of the last capture of a graph, once.
  std::optional<GraphState> take_graph_news() { return graphs_.take_news(); }
  const GraphCounts& graph_counts() const { return graphs_.counts(); }
  // The error message of this rank's last lack of memory, one line; empty: there was none.
  const std::string& out_of_memory_text() const { return reserve_.text(); }
  // After a step that was dropped or not finite: maybe with other micro-batches, which make another
  // graph.
  void reset_after_drop();
  // Between steps, all ranks: frees the device memory that graphs hold; they are captured anew.
  void release_graphs();
  void recompute_all_blocks() { step_.recompute_all_blocks(); }  // before `reset_after_drop`
  // As TrainStep::find_not_finite.
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
