// Builds a recipe's model and places it on the device. Also chooses the checkpoint to read, and
// saves evaluation output.
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
  fresh,     // for a run that begins anew; rank 0 sets the first weights
  restored,  // the weights will be read from a checkpoint
};

// A freshly built model on the device. `storage` holds its parameters, and `buffers` its buffers.
// train.freeze says which parameters are frozen. Arguments of the constructor:
//   shared: whether the optimizer is sharded over the ranks; if it is, the constructor sends rank
//     0's weights to all ranks
//   link: the speed of an all-reduce, from which the bucket size is chosen unless reduce_bucket_mb
//     sets it
struct PlacedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<ParameterStorage> storage;
  std::unique_ptr<ModelBuffers> buffers;

  // The result of load_first_weights. It is null if no weights were loaded by init.from, and on
  // ranks other than 0.
  nlohmann::json first_weights;

  PlacedModel(const TrainerSetup& setup, Placing placing, bool shared = false,
              const std::optional<LinkSpeed>& link = std::nullopt);
};

// Returns the checkpoint to read, or nothing if the run has no undamaged checkpoint. Rank 0 chooses
// it and checks it for damage, so the checkpoint is the same on every rank. On rank 0, `skipped`
// gets the damaged checkpoints that were skipped. Throws Error on each rank that cannot see the
// chosen checkpoint.
std::optional<CheckpointInfo> choose_checkpoint(const RunDir& run, ProcessGroup& group,
                                                const WhichCheckpoint& which,
                                                std::vector<CheckpointInfo>& skipped);

// Writes the output of an evaluation and its metrics into the run's folder. If there is no output,
// writes nothing. best: whether this evaluation is the best so far. differs: EvaluateRun::differs,
// or null during training. Returns one line for each output that could not be kept or written.
std::vector<std::string> save_output(const EvaluationOutput& output,
                                     const std::vector<Metric>& metrics, bool best,
                                     const nlohmann::json& differs = nullptr);

// Returns the options with which a run evaluates `data`, during training and in `lockstep
// evaluate`. data: may be null if there is no validation data.
EvaluatorOptions evaluator_options(const TrainerSetup& setup, const Dataset* data);

}  // namespace lockstep
