// All that one rank needs to take steps with a recipe, without a run.
#pragma once

#include "data/loader.h"
#include "engine/step_runner.h"

#include <memory>

namespace lockstep::testing {

struct RankParts {
  // options, recipe, group, backend: outlive it. Loads without threads.
  RankParts(const TrainOptions& options, Recipe& recipe, ProcessGroup& group, Backend& backend,
            const BatchPlan& batch, std::int64_t steps)
      : model(recipe.build(1)),
        arena(model->parameters(), at::kCPU, compute_dtype(options.precision)),
        buffers(model->buffers(), at::kCPU),
        optimizer(options, arena, &buffers),
        reducer(arena, group, options.reduce_precision),
        runner({.recipe = recipe,
                .model = *model,
                .arena = arena,
                .buffers = buffers,
                .reducer = reducer,
                .optimizer = optimizer,
                .group = group,
                .backend = backend,
                .options = options}),
        loader(recipe.data().train,
               {.seed = 42,
                .batch = batch,
                .rank = group.rank(),
                .last_step = steps,
                .threads = 0,
                .loss_weights = [&recipe](const Batch& one) { return recipe.loss_weights(one); }}) {
  }

  StepResult step(double lr = 0.01) {
    return runner.run(runner.stage(loader.next()), lr, {}).get();
  }

  std::unique_ptr<Model> model;
  Arena arena;
  ModelBuffers buffers;
  Optimizer optimizer;
  Reducer reducer;
  StepRunner runner;
  Loader loader;
};

}  // namespace lockstep::testing
