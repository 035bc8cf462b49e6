#include "training/trainer/contract.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/step/train_step.h"

#include <ATen/core/grad_mode.h>

namespace lockstep {
namespace {

ContractReport check(const TrainerSetup& setup, PlacedModel& placed, GradientBuffers& gradients,
                     const DatasetPair& data) {
  const EvaluatorOptions evaluation = evaluator_options(setup, data.valid.get());
  ContractReport report =
      check_contract({.recipe = setup.recipe,
                      .model = *placed.model,
                      .buffers = *placed.buffers,
                      .data = data,
                      .group = setup.group,
                      .backend = setup.backend,
                      .seed = evaluation.seed,
                      .compute_dtype = evaluation.compute_dtype,
                      .frozen_statistics = setup.options.norm.statistics == NormStatistics::frozen,
                      .micro = setup.plan.batch.micro,
                      .eval_batch = evaluation.batch,
                      .best_metric = setup.options.checkpoint.best_metric});
  gradients.drop();  // in case the loss computes gradients in its forward pass
  return report;
}

}  // namespace

void require_contract(const TrainerSetup& setup, PlacedModel& placed, GradientBuffers& gradients,
                      const DatasetPair& data, Recorder* recorder) {
  const ContractReport report = check(setup, placed, gradients, data);
  if (!report.faults.empty())
    throw Error(cat("the recipe breaks its contract: ", join(report.faults, ";\n  ")),
                "mend the recipe and see lockstep check; check.contract=false trains all the same");
  if (recorder == nullptr) return;
  for (const std::string& warning : report.warnings)
    recorder->warn(0, cat("check of the recipe: ", warning));
  if (report.out_of_memory)
    recorder->warn(0, cat("check of the recipe: ", join(report.notes, "; ")));
}

nlohmann::json check_run(const TrainerSetup& setup) {
  setup.backend.use_training_stream();
  PlacedModel placed(setup, Placing::fresh);
  GradientBuffers gradients(*placed.storage);
  {
    const at::NoGradGuard no_grad;
    placed.storage->cast_weights();
  }
  const ContractReport report = check(setup, placed, gradients, setup.recipe.data());
  return {{"faults", report.faults},
          {"warnings", report.warnings},
          {"notes", report.notes},
          {"tried", report.tried}};
}

}  // namespace lockstep
