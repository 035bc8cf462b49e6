// A step runner of one rank on the GPU, and steps made of given host tensors.
#pragma once

#include "fakes/rank_parts.h"
#include "gpu/gpu_fixture.h"

#include <ATen/ops/full.h>

#include <utility>
#include <vector>

namespace lockstep::testing {

// The recipe outlives it.
class StepRig {
 public:
  StepRig(Recipe& recipe, Backend& gpu, GraphMode graph, Precision precision = Precision::fp32,
          OptimizerKind kind = OptimizerKind::adamw)
      : options_(graph, precision, kind),
        recipe_(recipe),
        group_(World{}, gpu),
        parts_(options_, recipe, group_, gpu) {}

  StepRunner& runner() { return parts_.runner; }
  RankParts& parts() { return parts_; }

  // A step of these micro-batches of fields [rows, ...], on the host; waits for its numbers.
  StepResult step(const std::vector<std::vector<at::Tensor>>& micro) {
    StepData data{.step = steps_++, .weights = std::vector<double>(recipe_.terms().size())};
    for (const std::vector<at::Tensor>& fields : micro) {
      Batch batch{.tensors = fields, .row_weight = at::full({fields[0].size(0)}, 1.0)};
      const std::vector<double> weights = recipe_.loss_weights(batch);
      for (std::size_t t = 0; t < weights.size(); ++t) data.weights[t] += weights[t];
      data.batches.push_back(std::move(batch));
    }
    return runner().run(runner().stage(std::move(data)), /*lr=*/1e-3, {}).get();
  }

 private:
  struct Options : TrainOptions {
    Options(GraphMode mode, Precision wanted, OptimizerKind kind) {
      optimizer.kind = kind;
      precision = wanted;
      graph = mode;
    }
  };

  Options options_;
  Recipe& recipe_;
  ProcessGroup group_;
  RankParts parts_;
  std::int64_t steps_ = 0;
};

}  // namespace lockstep::testing
