// Captures steps as CUDA graphs and replays them. There is one graph for each set of data shapes
// that occurs more than once.
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

// The outcome of an attempt to capture a step.
struct GraphState {
  bool captured = false;
  double seconds = 0;       // duration of the attempt
  std::string why_not;      // the reason if there is no graph; else empty
  std::int64_t shapes = 0;  // number of sets of shapes that have a graph now
};

// Counts of the steps since the start of this process.
struct GraphCounts {
  std::int64_t shapes = 0;               // number of sets of shapes that ever had a graph
  std::int64_t by_graph = 0, eager = 0;  // steps that ran with and without a graph
};

// A step that runs without a graph is called eager. After a few eager steps, a step is captured if
// every rank has seen the step's shapes before. Either all ranks capture the step together, or no
// rank does. From then on, steps of these shapes are replayed. There are at most
// `options.graph_shapes` graphs, which share their memory. All calls must come from one thread,
// with the training stream as the current stream.
class StepGraphs {
 public:
  // All arguments must outlive this object.
  StepGraphs(const TrainOptions& options, ProcessGroup& group, Backend& backend, TrainStep& step);

  // Captures the step if its capture is due. All ranks call it before each step.
  void record_if_due(const StepInputs& inputs);
  // Whether there is a graph for this step. The result is the same on every rank.
  bool serves(const StepInputs& inputs) const { return graphs_.contains(inputs.shapes_key); }
  at::Tensor replay(const StepInputs& inputs);  // returns the step metrics
  // Call it after each step was enqueued, with or without a graph.
  void count_step(const StepInputs& inputs);
  // Returns the outcome of the last capture. If no shapes occurred twice in the first 100 steps,
  // returns an outcome that says so. Each outcome is returned only once; without a new outcome,
  // returns nothing. All ranks get an outcome at the same step, with the same `captured`.
  std::optional<GraphState> take_news();
  const GraphCounts& counts() const { return counts_; }
  // Deletes all graphs. The next steps are eager again for a while. All ranks call it.
  void reset();

 private:
  // A graph, and the tensors that it reads and writes.
  struct CapturedStep {
    StepInputs inputs;
    at::Tensor numbers;
    std::shared_ptr<const StepPlan> plan;
    // The last member, so that it is destroyed before the tensors that it reads.
    std::unique_ptr<Graph> graph;
  };

  bool due(const StepInputs& inputs) const;
  std::string try_to_capture(const StepInputs& inputs, const SparseAllGather::AgreedRows& rows);
  std::int64_t failed_ranks(bool failed);

  const TrainOptions& options_;
  ProcessGroup& group_;
  Backend& backend_;
  TrainStep& step_;
  at::Tensor failures_;     // f64 [1] on the host, allocated in advance
  std::int64_t steps_ = 0;  // number of steps since the last `reset`
  // The shapes of eager steps (StepInputs::shapes_key), and the number of rows in their sparse
  // gradients (TrainStep::row_counts).
  std::map<std::uint64_t, std::vector<std::int64_t>> seen_;
  std::map<std::uint64_t, CapturedStep> graphs_;  // key: StepInputs::shapes_key
  std::set<std::uint64_t> ever_;                  // keys of all shapes that ever had a graph
  bool gave_up_ = false;                          // a capture failed
  std::optional<GraphState> news_;
  GraphCounts counts_;
};

}  // namespace lockstep
