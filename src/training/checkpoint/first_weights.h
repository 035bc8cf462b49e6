// Loads weights of a run, folder or file into a freshly built model. Every tensor is accounted for.
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

// Each tensor once, parameters before buffers.
std::vector<ModelTensor> tensors_of(Model& model);

// Pairs of source and model tensors. Indexes refer to the lists that were matched.
struct WeightMatch {
  struct Pair {
    std::size_t model = 0, source = 0;
  };
  std::vector<Pair> pairs;  // all of them, if several source tensors match one of the model
  // Allowed mismatches. missing and other_shape: tensors of the model that keep their built values,
  // because the source lacks them or has another shape. unexpected: skipped tensors of the source.
  std::vector<std::string> missing, other_shape, unexpected;
  std::map<std::string, std::int64_t> converted;  // "F16 to F32" and the number of tensors
};

// Matches by name: first by init.map, then unchanged, then by weight_names (Recipe::weight_names)
// if the model has the result. A count of batches ("num_batches_tracked") may be missing or extra,
// and so may another name of a tensor that both have.
//
// Throws Error naming, up to a bound, all tensors that are missing, unexpected, unreadable, or of
// another shape or kind. init.missing and init.unexpected can allow them. So can weight_names, if
// some pair of it matched the model for that file. Also throws for a pattern of init.map that
// matches nothing.
WeightMatch match_weights(const std::vector<ModelTensor>& model,
                          const std::vector<SourceTensor>& source, const TrainOptions& options,
                          const std::vector<std::pair<std::string, std::string>>& weight_names,
                          const std::string& what);

// Copies the tensors into the model, converted to its types. Returns an event's description of
// that. Throws Error as match_weights does, if a parameter would not be finite, and if source
// tensors differ that are one tensor in the model.
nlohmann::json load_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                                  const WeightSource& source);

// The same without the copy: checks whether the source fits.
void check_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                         const WeightSource& source);

}  // namespace lockstep
