// Captures steps as CUDA graphs, one for each set of shapes that occurs again, and replays them.
#pragma once

#include "backends/backend.h"
#include "planning/options/train_options.h"
#include "training/distributed/process_group.h"
#include "training/step/step_inputs.h"
#include "training/step/train_step.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// The outcome of capturing a step.
struct GraphState {
  bool captured = false;
  double seconds = 0;       // duration of the capture
  std::string why_not;      // in words
  std::int64_t shapes = 0;  // number of data shapes for which there is a graph now
};

// How the steps since the start ran.
struct GraphCounts {
  std::int64_t shapes = 0;               // number of shapes for which graphs were captured
  std::int64_t by_graph = 0, eager = 0;  // steps
};

// Captures steps as CUDA graphs and replays them. After a few eager steps, it captures a step whose
// shapes every rank has seen before. Either all ranks capture it together, or none does. From then
// on steps of these shapes are replayed. There are at most `options.graph_shapes` graphs, which
// share their memory. One thread, on the training stream.
class StepGraphs {
 public:
  // All arguments outlive this object.
  StepGraphs(const TrainOptions& options, ProcessGroup& group, Backend& backend, TrainStep& step);

  // All ranks call it before each step. Captures the step if that is due.
  void record_if_due(const StepInputs& inputs);
  // Whether `replay` serves this step; the same on every rank.
  bool serves(const StepInputs& inputs) const { return graphs_.contains(inputs.shapes_key); }
  at::Tensor replay(const StepInputs& inputs);  // returns the step metrics
  // Call it when the step is enqueued, by `replay` or eagerly.
  void count_step(const StepInputs& inputs);
  // Returns the outcome of the last capture, once; the same on every rank.
  std::optional<GraphState> take_news();
  const GraphCounts& counts() const { return counts_; }
  // All ranks call it. Deletes all graphs, and the next steps warm up again.
  void reset();

 private:
  // A graph, and the tensors that it reads and writes.
  struct CapturedStep {
    StepInputs inputs;
    at::Tensor numbers;
    std::shared_ptr<const StepPlan> plan;
    std::unique_ptr<Graph> graph;  // last, so that it is destroyed before the tensors that it reads
  };

  bool due(const StepInputs& inputs) const;
  std::string try_to_capture(const StepInputs& inputs, const SparseAllGather::AgreedRows& rows);
  std::int64_t failed_ranks(bool failed);

  const TrainOptions& options_;
  ProcessGroup& group_;
  Backend& backend_;
  TrainStep& step_;
  at::Tensor failures_;     // f64 [1] on the host, made while there is memory
  std::int64_t steps_ = 0;  // since the last reset
  // The shapes of eager steps, and how many rows of tables each used (TrainStep::row_counts).
  std::map<std::uint64_t, std::vector<std::int64_t>> seen_;
  std::map<std::uint64_t, CapturedStep> graphs_;  // by shapes
  std::set<std::uint64_t> ever_;                  // shapes for which there was a graph
  bool gave_up_ = false;                          // a step could not be captured
  std::optional<GraphState> news_;
  GraphCounts counts_;
};

}  // namespace lockstep
