#include "engine/step_graph.h"

#include "base/clock.h"
#include "base/text.h"
#include "engine/library_modes.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <exception>
#include <utility>

namespace lockstep {
namespace {

// Steps before the capture: libraries load their kernels and allocate workspaces, NCCL connects.
constexpr std::int64_t warm_up_steps = 3;

}  // namespace

StepGraph::StepGraph(const TrainOptions& options, ProcessGroup& group, Backend& backend)
    : options_(options), group_(group), backend_(backend), failures_(at::zeros({1}, at::kDouble)) {}

bool StepGraph::fits(const BatchShapes& shapes) const { return !graph_ || shapes == shapes_; }

bool StepGraph::serves(const StepInputs& inputs) const { return graph_ && !inputs.other_shapes; }

void StepGraph::count_step(const StepInputs& inputs) {
  if (!state_ && inputs.out_of_memory == Phase::none) {
    if (steps_ == 0)
      shapes_ = inputs.shapes;
    else if (inputs.shapes != shapes_ && !std::exchange(shapes_vary_, true))
      stop_trying_out_convolutions();
  }
  ++steps_;
}

// Why it could not; empty: it could.
std::string StepGraph::try_to_record(const StepInputs& inputs, const Record& record) {
  if (inputs.out_of_memory != Phase::none) return "memory ran out";
  if (shapes_vary_ || inputs.shapes != shapes_)
    return "the shapes of the data vary from step to step";
  try {
    inputs_ = inputs;
    for (auto& tensors : inputs_.micro)
      for (at::Tensor& tensor : tensors) tensor = tensor.clone();
    for (at::Tensor* tensor : {&inputs_.weights, &inputs_.report, &inputs_.lr})
      *tensor = tensor->clone();
    backend_.synchronize();
    // A graph has memory of its own, beside which that of the steps before would be idle.
    backend_.release_cached_memory();
    graph_ = backend_.capture([this, record] { numbers_ = record(inputs_); });
    return "";
  } catch (const std::exception& error) {
    return split(error.what(), '\n').at(0);
  }
}

// Every rank comes here in the same step. A recording enqueues nothing, so a rank on which it fails
// can still tell the others, and all go on without.
void StepGraph::record_if_due(const StepInputs& inputs, const Record& record,
                              const std::function<void()>& forget) {
  if (options_.graph != GraphMode::automatic || !backend_.has_graphs()) return;
  if (state_ || steps_ < warm_up_steps) return;
  GraphState state;
  const double begin_s = system_clock().now_s();
  state.why_not = try_to_record(inputs, record);
  if (!graph_) {
    forget();
    drop();
  }
  auto* const failed = failures_.mutable_data_ptr<double>();
  *failed = graph_ ? 0 : 1;
  group_.all_reduce_on_host(failures_)->wait();
  const auto failures = static_cast<int>(*failed);
  if (failures > 0) {
    drop();
    backend_.release_cached_memory();  // that of the recording, which no step could use
    if (state.why_not.empty())
      state.why_not = cat(failures, failures == 1 ? " other rank" : " other ranks",
                          " could not record the step");
  }
  state.captured = graph_ != nullptr;
  state.seconds = system_clock().now_s() - begin_s;
  state_ = std::move(state);
}

at::Tensor StepGraph::replay(const StepInputs& inputs) {
  const at::NoGradGuard no_grad;
  // Without data the graph works on old ones: its report says that the step is to be dropped.
  for (std::size_t m = 0; m < inputs.micro.size(); ++m)
    for (std::size_t i = 0; i < inputs.micro[m].size(); ++i)
      inputs_.micro[m][i].copy_(inputs.micro[m][i]);
  inputs_.weights.copy_(inputs.weights);
  inputs_.report.copy_(inputs.report);
  inputs_.lr.copy_(inputs.lr);
  graph_->replay();
  return numbers_;
}

void StepGraph::drop() {
  graph_.reset();
  inputs_ = StepInputs();
  numbers_.reset();
}

void StepGraph::reset() {
  drop();
  state_.reset();
  steps_ = 0;
  shapes_vary_ = false;
}

}  // namespace lockstep
