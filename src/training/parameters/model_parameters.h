// Sorts a model's parameters into trained and frozen ones, and finds those that are one tensor
// under several names.
#pragma once

#include "planning/options/optimizers.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// A parameter, under the first name that it was registered with.
struct UniqueParameter {
  Parameter parameter;  // tensor: the first handle that requires grad, or the first if none does
  std::vector<at::Tensor> handles;  // all distinct handles of this memory, `parameter.tensor` first
};

// A further name of a parameter or buffer. It refers to the same tensor, or to one that shares all
// its memory.
struct Alias {
  std::string name, of;  // of: the first name
};

struct ModelParameters {
  std::vector<UniqueParameter> trained, frozen;  // each in order of registration
  std::vector<Alias> aliases;
  // True if the model marks no Parameter::use. Then guess_uses (planning/options/optimizers.h) sets
  // the use of its first and last matrix.
  bool guessed_uses = false;
};

// Parameters that do not require grad are frozen. Throws Error if a name comes twice or no
// parameter is trained. Also throws for tensors that are not leaves, for unsupported types, and for
// parameters that share only a part of their memory.
ModelParameters sort_parameters(const std::vector<Parameter>& registered);

// Returns the first name, and the further names that aliases give it.
std::vector<std::string> all_names(const std::string& first, const std::vector<Alias>& aliases);

std::int64_t elements_of(const std::vector<UniqueParameter>& parameters);

// Returns parameters of sort_parameters with the properties that update rules distinguish. aliases:
// their other names. guessed: ModelParameters::guessed_uses.
std::vector<OptimizedParameter> optimized_parameters(const std::vector<Parameter>& trained,
                                                     const std::vector<Alias>& aliases,
                                                     bool guessed = false);

}  // namespace lockstep
