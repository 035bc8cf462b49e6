// Loads weights from a run, a folder or a file into a freshly built model (init.from). Each tensor
// of the source and of the model must be matched, or be an allowed mismatch.
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

// A parameter or a buffer of a model, with all its names.
struct ModelTensor {
  std::vector<std::string> names;
  at::Tensor tensor;  // on the CPU
  bool is_buffer = false;
};

// Returns each tensor of the model once. Parameters come before buffers.
std::vector<ModelTensor> tensors_of(Model& model);

// Says which source tensor is loaded into which model tensor. Indexes refer to the two lists that
// match_weights was given.
struct WeightMatch {
  struct Pair {
    std::size_t model = 0, source = 0;
  };
  std::vector<Pair> pairs;  // one model tensor may be in several pairs
  // The names of allowed mismatches.
  //   missing: model tensors that the source lacks; they keep their present values
  //   other_shape: model tensors that have another shape in the source; they keep their present
  //     values
  //   unexpected: tensors of the source that are skipped
  std::vector<std::string> missing, other_shape, unexpected;
  // The number of tensors for each conversion, such as "F16 to F32".
  std::map<std::string, std::int64_t> converted;
};

// Matches tensors by name. Prefixes that DataParallel or torch.compile put before every name of the
// source are ignored. A name of the source is first changed by init.map. If the model lacks the
// resulting name, the pairs of weight_names (Recipe::weight_names) are tried. Batch counts of
// torch's batch norm ("num_batches_tracked") may be missing on either side. If a tensor is matched
// by one of its names, its other names need not match.
//
// Throws Error if tensors are missing, unexpected, unreadable, of another shape, or floating-point
// where the model has integers. The Error names up to eight tensors for each of these faults.
// init.missing and init.unexpected allow mismatches. Pairs of weight_names with an empty side also
// allow mismatches, if another pair matched a tensor of the source. Also throws Error if a pattern
// of init.map matches nothing, or if no tensor matches at all. what: name of the source, for
// messages.
WeightMatch match_weights(const std::vector<ModelTensor>& model,
                          const std::vector<SourceTensor>& source, const TrainOptions& options,
                          const std::vector<std::pair<std::string, std::string>>& weight_names,
                          const std::string& what);

// Copies the matched tensors of `source` into the model, and converts them to the model's dtypes.
// Returns a description of the copy, for an event. Throws Error in the cases in which match_weights
// does. Also throws Error if a loaded parameter has an infinite value or NaN, or a loaded buffer
// has NaN. Also throws Error if several source tensors match one tensor of the model, but differ in
// their values.
nlohmann::json load_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                                  const WeightSource& source);

// Checks whether load_first_weights could load the source, but copies nothing. Throws Error in the
// cases in which match_weights does.
void check_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                         const WeightSource& source);

}  // namespace lockstep
