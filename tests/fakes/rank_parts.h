// All that one rank needs to take steps with a recipe, without a run.
#pragma once

#include "training/data/loader.h"
#include "training/step/compute_dtype.h"
#include "training/step/loss_weights.h"
#include "training/step/step_runner.h"

#include <memory>

namespace lockstep::testing {

// options, recipe, group, backend: outlive it.
struct RankParts {
  RankParts(const TrainOptions& options, Recipe& recipe, ProcessGroup& group, Backend& backend)
      : model(recipe.build(1)),
        storage(model->parameters(), backend.device(), compute_dtype(options.precision),
                options.shard_optimizer ? &group : nullptr, usual_bucket_bytes,
                options.optimizer.kind),
        gradients(storage),
        buffers(model->buffers(), backend.device()),
        optimizer(options, gradients, &buffers),
        reducer(gradients, group, options.reduce_precision),
        runner({.recipe = recipe,
                .model = *model,
                .gradients = gradients,
                .buffers = buffers,
                .reducer = reducer,
                .optimizer = optimizer,
                .group = group,
                .backend = backend,
                .options = options}) {}

  std::unique_ptr<Model> model;
  ParameterStorage storage;
  GradientBuffers gradients;
  ModelBuffers buffers;
  Optimizer optimizer;
  Reducer reducer;
  StepRunner runner;
};

// The same with the recipe's training data, loaded without threads.
struct LoadingRank : RankParts {
  LoadingRank(const TrainOptions& options, Recipe& recipe, ProcessGroup& group, Backend& backend,
              const BatchPlan& batch, std::int64_t steps)
      : RankParts(options, recipe, group, backend),
        loader(recipe.data().train,
               {.seed = static_cast<std::uint64_t>(options.seed),
                .batch = batch,
                .rank = group.rank(),
                .last_step = steps,
                .threads = 0,
                .loss_weights =
                    [&recipe](const Batch& one) { return checked_loss_weights(recipe, one); },
                .drop_last = options.data.drop_last,
                .group_by_length = options.data.group_by_length}) {}

  StepResult step(double lr = 0.01) {
    return runner.run(runner.stage(loader.next()), lr, {}).get();
  }

  Loader loader;
};

}  // namespace lockstep::testing
