// A recipe's model on the device, and the checkpoint that its weights come from.
#pragma once

#include "runtime/run/checkpoint/checkpoint_index.h"
#include "training/evaluation/evaluator.h"
#include "training/parameters/parameter_storage.h"
#include "training/trainer/trainer.h"
#include "training/update/model_buffers.h"

#include <memory>
#include <optional>
#include <vector>

namespace lockstep {

// The start that a model is placed for.
enum class Placing {
  fresh,     // a run's first start: with its first weights, on rank 0
  restored,  // weights come from a checkpoint
};

// A freshly built model whose parameters lie in one storage on the device, buffers beside it,
// frozen as train.freeze says. With `shared`, the ranks share the optimizer's work, and begin with
// rank 0's weights. `link` gives the size of buckets where the options give none.
struct PlacedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<ParameterStorage> storage;
  std::unique_ptr<ModelBuffers> buffers;

  nlohmann::json first_weights;  // of init.from, for an event; null: there are none, or not here

  PlacedModel(const TrainerSetup& setup, Placing placing, bool shared = false,
              const std::optional<LinkSpeed>& link = std::nullopt);
};

// The same on every rank, because rank 0 chooses and verifies. There skipped gets the damaged ones
// passed over.
std::optional<CheckpointInfo> choose_checkpoint(const RunDir& run, ProcessGroup& group,
                                                const WhichCheckpoint& which,
                                                std::vector<CheckpointInfo>& skipped);

// Writes what an evaluation leaves in its run, with its metrics beside it; nothing where there is
// nothing but metrics. differs: in what it differs from the training's, for metrics.json, or null.
// Returns what could not be kept or written, a line each.
std::vector<std::string> save_output(const EvaluationOutput& output,
                                     const std::vector<Metric>& metrics, bool best,
                                     const nlohmann::json& differs = nullptr);

// How a run evaluates `data`, during training and by itself; null: it does not.
EvaluatorOptions evaluator_options(const TrainerSetup& setup, const Dataset* data);

}  // namespace lockstep
