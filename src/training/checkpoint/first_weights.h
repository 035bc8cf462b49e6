// Loads weights of a run, folder or file into a freshly built model. Each tensor of the source and
// of the model is matched, is an allowed mismatch, or is an error.
#pragma once

#include "runtime/run/checkpoint/weight_source.h"
#include "training/parameters/model_parameters.h"
#include "training/recipe/recipe.h"

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

// Returns each tensor once, parameters before buffers.
std::vector<ModelTensor> tensors_of(Model& model);

// Pairs of source and model tensors. Indexes refer to the lists that were matched.
struct WeightMatch {
  struct Pair {
    std::size_t model = 0, source = 0;
  };
  std::vector<Pair> pairs;  // if several source tensors match one model tensor, a pair for each
  // Allowed mismatches. missing and other_shape: tensors of the model that keep their built values,
  // because the source lacks them or has another shape. unexpected: skipped tensors of the source.
  std::vector<std::string> missing, other_shape, unexpected;
  std::map<std::string, std::int64_t> converted;  // "F16 to F32" and the number of tensors
};

// Matches by name: first by init.map, then unchanged, then by weight_names (Recipe::weight_names)
// if the model has the resulting name. A count of batches ("num_batches_tracked") may be missing or
// extra. If both sides have a tensor, each side may have further names of it that the other lacks.
//
// Throws Error if tensors are missing, unexpected, unreadable, or of another shape or kind. The
// Error lists them, up to a maximum number. init.missing and init.unexpected can allow such
// tensors. A pair of weight_names can also allow them, if some pair of weight_names matched the
// model for that file. Also throws if a pattern of init.map matches nothing.
WeightMatch match_weights(const std::vector<ModelTensor>& model,
                          const std::vector<SourceTensor>& source, const TrainOptions& options,
                          const std::vector<std::pair<std::string, std::string>>& weight_names,
                          const std::string& what);

// Copies the tensors into the model, converted to its types. Returns a description of this copy for
// an event. Throws Error as match_weights does. Also throws if a parameter would not be finite, or
// if several source tensors match one tensor of the model and have different values.
nlohmann::json load_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                                  const WeightSource& source);

// Checks whether the source fits, as load_first_weights does, without copying.
void check_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                         const WeightSource& source);

}  // namespace lockstep
