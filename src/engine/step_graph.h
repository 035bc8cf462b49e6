// Turning the step into one CUDA graph, and running that.
#pragma once

#include "engine/backend.h"
#include "engine/process_group.h"
#include "engine/step_inputs.h"
#include "plan/train_options.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace lockstep {

// Whether the step became one graph, and if not, why.
struct GraphState {
  bool captured = false;
  double seconds = 0;   // that capturing took
  std::string why_not;  // in words
};

// After some steps that warm up, all ranks together record the step, or none does. From then on it
// is replayed for data of the same shapes. One thread, on the training stream.
class StepGraph {
 public:
  // Enqueues a step while it is recorded, and returns its numbers; throws where that fails.
  using Record = std::function<at::Tensor(const StepInputs&)>;

  StepGraph(const TrainOptions& options, ProcessGroup& group, Backend& backend);

  // Whether a step of these shapes is one that the graph can run; true where there is none.
  bool fits(const BatchShapes& shapes) const;
  // All ranks, before each step: records it if it is time to. forget: called where that failed.
  void record_if_due(const StepInputs& inputs, const Record& record,
                     const std::function<void()>& forget);
  // Whether `replay` serves this step; the same on every rank.
  bool serves(const StepInputs& inputs) const;
  at::Tensor replay(const StepInputs& inputs);  // the step's numbers
  // Once the step is enqueued.
  void count_step(const StepInputs& inputs);
  // Set once, after the step in which it was decided.
  const std::optional<GraphState>& state() const { return state_; }
  // All ranks: there is no graph, and the next steps warm up again.
  void reset();

 private:
  void drop();
  std::string try_to_record(const StepInputs& inputs, const Record& record);

  const TrainOptions& options_;
  ProcessGroup& group_;
  Backend& backend_;
  at::Tensor failures_;  // f64 [1] on the host, made when there is memory
  std::int64_t steps_ = 0;
  BatchShapes shapes_;  // of the first step
  bool shapes_vary_ = false;
  std::optional<GraphState> state_;
  StepInputs inputs_;  // what the graph reads
  at::Tensor numbers_;
  std::unique_ptr<Graph> graph_;  // last: it goes before what it reads
};

}  // namespace lockstep
