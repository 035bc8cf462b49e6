#include "training/step/step_graphs.h"

#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "ops/copy_all/copy_all.h"
#include "training/step/library_modes.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <exception>
#include <utility>

namespace lockstep {
namespace {

// Steps before the first capture. In these, libraries load their kernels and allocate workspaces,
// and NCCL connects.
constexpr std::int64_t warm_up_steps = 3;
// If there is no graph after this number of steps, the reason is reported.
constexpr std::int64_t patience_steps = 100;
// No further shapes are counted. With so many different shapes a graph is of no use.
constexpr std::size_t most_seen = 4096;

}  // namespace

StepGraphs::StepGraphs(const TrainOptions& options, ProcessGroup& group, Backend& backend,
                       TrainStep& step)
    : options_(options),
      group_(group),
      backend_(backend),
      step_(step),
      failures_(at::zeros({1}, at::kDouble)) {}

bool StepGraphs::due(const StepInputs& inputs) const {
  return options_.graph == GraphMode::automatic && backend_.has_graphs() && !gave_up_ &&
         steps_ >= warm_up_steps && seen_.contains(inputs.shapes_key) && !serves(inputs) &&
         static_cast<std::int64_t>(graphs_.size()) < options_.graph_shapes;
}

// Returns why the capture failed; empty if it succeeded.
std::string StepGraphs::try_to_capture(const StepInputs& inputs,
                                       const SparseAllGather::AgreedRows& rows) {
  if (inputs.out_of_memory != Phase::none) return "memory ran out";
  CapturedStep& made = graphs_[inputs.shapes_key];
  try {
    made.inputs = inputs;
    for (auto& part : made.inputs.host_parts) part.reset();  // belongs to this step only
    for (auto& tensors : made.inputs.micro)
      for (at::Tensor& tensor : tensors) tensor = tensor.clone();
    for (at::Tensor* tensor : {&made.inputs.weights, &made.inputs.report, &made.inputs.lr})
      *tensor = tensor->clone();
    made.plan = step_.plan_graph(made.inputs, rows);
    backend_.synchronize();
    // A graph has its own memory, so memory cached for eager steps would be idle.
    backend_.release_cached_memory();
    made.graph =
        backend_.capture([this, &made] { made.numbers = step_.capture(made.inputs, made.plan); });
    return "";
  } catch (const std::exception& error) {
    return split(error.what(), '\n').at(0);
  }
}

std::int64_t StepGraphs::failed_ranks(bool failed) {
  auto* const count = failures_.mutable_data_ptr<double>();
  *count = failed ? 1 : 0;
  group_.all_reduce_on_host(failures_)->wait();
  return static_cast<std::int64_t>(*count);
}

// All ranks get here in the same step, after the same shapes. A capture enqueues nothing. So a rank
// on which it fails can still tell the others, and all ranks continue without a graph.
void StepGraphs::record_if_due(const StepInputs& inputs) {
  if (!due(inputs)) return;
  GraphState state;
  const double begin_s = system_clock().now_s();
  const SparseAllGather::AgreedRows rows = step_.agree_on_rows(seen_.at(inputs.shapes_key));
  state.why_not = try_to_capture(inputs, rows);
  const bool failed = !state.why_not.empty();
  if (failed) {
    step_.forget_unfinished();
    graphs_.erase(inputs.shapes_key);
  }
  const std::int64_t failures = failed_ranks(failed);
  if (failures == 0) {
    ever_.insert(inputs.shapes_key);
    counts_.shapes = static_cast<std::int64_t>(ever_.size());
  } else {
    graphs_.erase(inputs.shapes_key);
    backend_.release_cached_memory();  // memory of the capture, which no step could use
    gave_up_ = true;
    if (state.why_not.empty())
      state.why_not = cat(failures, failures == 1 ? " other rank" : " other ranks",
                          " could not capture the step");
  }
  state.captured = failures == 0;
  state.seconds = system_clock().now_s() - begin_s;
  state.shapes = static_cast<std::int64_t>(graphs_.size());
  news_ = std::move(state);
}

at::Tensor StepGraphs::replay(const StepInputs& inputs) {
  const at::NoGradGuard no_grad;
  CapturedStep& captured = graphs_.at(inputs.shapes_key);
  // If the data is missing, the graph reuses old data. The step's report then says that the step is
  // dropped.
  Copies copies{{captured.inputs.weights, inputs.weights},
                {captured.inputs.report, inputs.report},
                {captured.inputs.lr, inputs.lr}};
  for (std::size_t m = 0; m < inputs.micro.size(); ++m)
    for (std::size_t i = 0; i < inputs.micro[m].size(); ++i)
      copies.emplace_back(captured.inputs.micro[m][i], inputs.micro[m][i]);
  copy_all(copies);
  step_.before_replay(*captured.plan);
  captured.graph->replay();
  return captured.numbers;
}

void StepGraphs::count_step(const StepInputs& inputs) {
  ++steps_;
  if (serves(inputs)) {
    ++counts_.by_graph;
    return;
  }
  ++counts_.eager;
  if (seen_.size() < most_seen || seen_.contains(inputs.shapes_key))
    seen_[inputs.shapes_key] = step_.row_counts();
  // Each shape costs a search for the fastest convolution algorithms, so the search stops after too
  // many shapes.
  if (static_cast<std::int64_t>(seen_.size()) > options_.graph_shapes)
    stop_trying_out_convolutions();
  if (steps_ == patience_steps && graphs_.empty() && !gave_up_ && backend_.has_graphs() &&
      options_.graph == GraphMode::automatic)
    news_ = GraphState{.why_not = cat("no two of the first ", patience_steps,
                                      " steps had data of the same shapes")};
}

std::optional<GraphState> StepGraphs::take_news() { return std::exchange(news_, std::nullopt); }

void StepGraphs::reset() {
  graphs_.clear();
  seen_.clear();
  gave_up_ = false;
  steps_ = 0;
}

}  // namespace lockstep
