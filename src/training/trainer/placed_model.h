// Places a recipe's model on the device, and chooses the checkpoint of its weights.
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

// The purpose for which a model is placed.
enum class Placing {
  fresh,     // a run's first start: rank 0 sets its first weights
  restored,  // the weights will come from a checkpoint
};

// A freshly built model. Its trained parameters are in one storage on the device, and its buffers
// are separate. train.freeze says which parameters are frozen. With `shared`, the ranks share the
// optimizer's work, and begin with rank 0's weights. `link` determines the size of buckets if the
// options do not give it.
struct PlacedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<ParameterStorage> storage;
  std::unique_ptr<ModelBuffers> buffers;

  nlohmann::json first_weights;  // about init.from, for an event; null: not used, or not on this
                                 // rank

  PlacedModel(const TrainerSetup& setup, Placing placing, bool shared = false,
              const std::optional<LinkSpeed>& link = std::nullopt);
};

// Returns the same checkpoint on every rank, because rank 0 chooses and verifies it. On rank 0,
// `skipped` gets the damaged checkpoints that were skipped.
std::optional<CheckpointInfo> choose_checkpoint(const RunDir& run, ProcessGroup& group,
                                                const WhichCheckpoint& which,
                                                std::vector<CheckpointInfo>& skipped);

// Writes the output of an evaluation into its run, together with its metrics. If there are only
// metrics, writes nothing. differs: how this evaluation differs from those of the training, for
// metrics.json, or null. Returns one line for each output that could not be kept or written.
std::vector<std::string> save_output(const EvaluationOutput& output,
                                     const std::vector<Metric>& metrics, bool best,
                                     const nlohmann::json& differs = nullptr);

// Returns the options with which a run evaluates `data`, during training and in `lockstep
// evaluate`. If `data` is null, it does not evaluate.
EvaluatorOptions evaluator_options(const TrainerSetup& setup, const Dataset* data);

}  // namespace lockstep
