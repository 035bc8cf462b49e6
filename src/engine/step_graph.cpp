// Turning the step into one graph, and running that.
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

#include <utility>

namespace lockstep {
namespace {

// Steps before the capture: libraries load their kernels and allocate workspaces, NCCL connects.
constexpr std::int64_t warm_up_steps = 3;

template <class Function>
void for_each_tensor(const std::vector<std::vector<at::Tensor>>& micro, const Function& function) {
  for (const auto& tensors : micro)
    for (const at::Tensor& tensor : tensors) function(tensor);
}

std::vector<std::vector<std::int64_t>> shapes_of(
    const std::vector<std::vector<at::Tensor>>& micro) {
  std::vector<std::vector<std::int64_t>> shapes;
  for_each_tensor(micro, [&](const at::Tensor& tensor) {
    shapes.push_back(tensor.sizes().vec());
    shapes.back().push_back(static_cast<std::int64_t>(tensor.scalar_type()));
  });
  return shapes;
}

}  // namespace

void StepRunner::note_shapes(const Inputs& inputs) {
  if (graph_state_) return;
  auto shapes = shapes_of(inputs.micro);
  if (steps_run_ == 0)
    shapes_ = std::move(shapes);
  else if (shapes != shapes_)
    shapes_vary_ = true;
}

bool StepRunner::wants_graph() {
  return options_.graph == GraphMode::automatic && !backend_.device().is_cpu() &&
         steps_run_ >= warm_up_steps;
}

// Every rank comes here in the same step. A capture enqueues nothing, so a rank on which it fails
// can still tell the others, and all go on without.
void StepRunner::try_to_capture(const Inputs& inputs) {
  GraphState state;
  const double begin_s = system_clock().now_s();
  const auto same = [](const at::Tensor& tensor) { return tensor.clone(); };
  if (inputs.out_of_memory != Activity::none) {
    state.why_not = "memory ran out";
  } else if (shapes_vary_ || shapes_of(inputs.micro) != shapes_) {
    state.why_not = "the shapes of the data vary from step to step";
  } else {
    recording_ = true;
    try {
      graph_inputs_ = inputs;
      for (auto& tensors : graph_inputs_.micro)
        for (at::Tensor& tensor : tensors) tensor = same(tensor);
      graph_inputs_.weights = same(inputs.weights);
      graph_inputs_.report = same(inputs.report);
      graph_inputs_.lr = same(inputs.lr);
      backend_.synchronize();
      // A graph has memory of its own, beside which that of the steps before would be idle.
      backend_.release_cached_memory();
      graph_ = backend_.capture([this] { graph_numbers_ = work(graph_inputs_); });
    } catch (const std::exception& error) {
      state.why_not = split(error.what(), '\n').at(0);
      forget_unfinished();
    }
    recording_ = false;
  }
  at::Tensor failed =
      at::full({}, graph_ ? 0.0 : 1.0, arena_.master().options().dtype(at::kDouble));
  group_.all_reduce(failed)->wait();
  const auto failures = static_cast<int>(failed.item<double>());
  if (failures > 0) {
    graph_.reset();
    graph_inputs_ = Inputs();
    graph_numbers_.reset();
    backend_.release_cached_memory();  // that of the capture, which no step could use
    if (state.why_not.empty())
      state.why_not = cat(failures, failures == 1 ? " other rank" : " other ranks",
                          " could not record the step");
  }
  state.captured = graph_ != nullptr;
  state.seconds = system_clock().now_s() - begin_s;
  graph_state_ = std::move(state);
}

at::Tensor StepRunner::replay(const Inputs& inputs) {
  const at::NoGradGuard no_grad;
  if (inputs.out_of_memory != Activity::none) {
    // Whatever data the graph works on, its report says that the step is to be dropped.
  } else if (shapes_of(inputs.micro) != shapes_) {
    throw Error("the shapes of the data changed after the step had become a CUDA graph",
                "set graph=off for this data");
  }
  for (std::size_t m = 0; m < inputs.micro.size(); ++m)
    for (std::size_t i = 0; i < inputs.micro[m].size(); ++i)
      graph_inputs_.micro[m][i].copy_(inputs.micro[m][i]);
  graph_inputs_.weights.copy_(inputs.weights);
  graph_inputs_.report.copy_(inputs.report);
  graph_inputs_.lr.copy_(inputs.lr);
  graph_->replay();
  return graph_numbers_;
}

}  // namespace lockstep
