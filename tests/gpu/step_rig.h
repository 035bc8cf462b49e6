// A step runner of one rank on the GPU, and steps made of given host tensors.
#pragma once

#include "engine/step.h"
#include "gpu/gpu_fixture.h"

#include <ATen/ops/full.h>

#include <memory>
#include <utility>
#include <vector>

namespace lockstep::testing {

// The recipe outlives it.
class StepRig {
 public:
  StepRig(Recipe& recipe, Backend& gpu, GraphMode graph)
      : options_(graph),
        gpu_(gpu),
        recipe_(recipe),
        model_(recipe.build(1)),
        group_(World{}, gpu),
        arena_(model_->parameters(), gpu.device(), at::kFloat),
        optimizer_(options_, arena_),
        reducer_(arena_, group_, ReducePrecision::fp32),
        runner_(recipe, *model_, arena_, reducer_, optimizer_, group_, gpu, options_) {}

  StepRunner& runner() { return runner_; }

  // A step of these micro-batches of fields [rows, ...], on the host; waits for its numbers.
  StepResult step(const std::vector<std::vector<at::Tensor>>& micro) {
    StepData data{.step = steps_++, .weights = std::vector<double>(recipe_.terms().size())};
    for (const std::vector<at::Tensor>& fields : micro) {
      Batch batch{.tensors = fields, .row_weight = at::full({fields[0].size(0)}, 1.0)};
      const std::vector<double> weights = recipe_.weigh(batch);
      for (std::size_t t = 0; t < weights.size(); ++t) data.weights[t] += weights[t];
      data.batches.push_back(std::move(batch));
    }
    auto running = runner_.run(runner_.stage(std::move(data)), /*lr=*/1e-3, {});
    return running.get();
  }

 private:
  struct Options : TrainOptions {
    explicit Options(GraphMode mode) {
      precision = Precision::fp32;
      graph = mode;
    }
  };

  Options options_;
  Backend& gpu_;
  Recipe& recipe_;
  std::unique_ptr<Model> model_;
  ProcessGroup group_;
  Arena arena_;
  Optimizer optimizer_;
  Reducer reducer_;
  StepRunner runner_;
  std::int64_t steps_ = 0;
};

}  // namespace lockstep::testing
