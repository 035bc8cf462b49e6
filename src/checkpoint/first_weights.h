// Weights of a run, folder or file into a freshly built model: every tensor accounted for.
#pragma once

#include "engine/model_parameters.h"
#include "engine/recipe.h"
#include "run/weight_source.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

// A parameter or a buffer of a model, under all its names.
struct ModelTensor {
  std::vector<std::string> names;
  at::Tensor tensor;  // on the CPU
  bool is_buffer = false;
};

// Each once, parameters before buffers.
std::vector<ModelTensor> tensors_of(Model& model);

// Which tensor goes where. Indexes are into the lists that were matched.
struct WeightMatch {
  struct Pair {
    std::size_t model = 0, source = 0;
  };
  std::vector<Pair> pairs;  // where several of the source stand for one of the model, all
  // Allowed: of the model, that stay as they were built because the source lacks them, or has them
  // in another shape; of the source, that are passed over.
  std::vector<std::string> missing, other_shape, unexpected;
  std::map<std::string, std::int64_t> converted;  // "F16 to F32" and how many
};

// By name: as init.map says, else as it is, else as weight_names says (Recipe::weight_names), where
// the model has the result. A count of batches ("num_batches_tracked") may be missing or too much,
// and so may another name of a tensor that both have. Throws Error that names, up to a bound, all
// that is missing, unexpected, of another shape or kind and not to be read, unless init.missing and
// init.unexpected allow it, or weight_names does, of a file of which some pair led to the model;
// and for a pattern of init.map that matches nothing.
WeightMatch match_weights(const std::vector<ModelTensor>& model,
                          const std::vector<SourceTensor>& source, const TrainOptions& options,
                          const std::vector<std::pair<std::string, std::string>>& weight_names,
                          const std::string& what);

// Copies them into the model, converted to its types. Returns what an event says of it. Throws
// Error as match_weights, where a parameter would not be finite, and where tensors differ that are
// one in the model.
nlohmann::json load_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                                  const WeightSource& source);

// The same up to the copy: whether the source fits.
void check_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                         const WeightSource& source);

}  // namespace lockstep
