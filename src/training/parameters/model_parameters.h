// Sorts a model's parameters into trained and frozen ones. Also finds parameters that are
// registered under several names.
#pragma once

#include "planning/options/optimizers.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// A parameter with its first registered name, and all tensor handles that share its memory.
struct UniqueParameter {
  // parameter.tensor is the first handle that requires grad, or the first handle if no handle does.
  Parameter parameter;
  // All distinct handles that share this memory; the first is `parameter.tensor`.
  std::vector<at::Tensor> handles;
};

// Another name of a parameter or buffer, after its first name. The tensor with this name is the
// tensor with the first name, or shares all its memory.
struct Alias {
  std::string name, of;  // of: the first name of that tensor
};

struct ModelParameters {
  std::vector<UniqueParameter> trained, frozen;  // both in the order of registration
  std::vector<Alias> aliases;
  // True if the model sets Parameter::use for no parameter, and guess_uses
  // (planning/options/optimizers.h) could guess the uses. It guesses that the first matrix is the
  // embedding, and the last matrix is the head.
  bool guessed_uses = false;
};

// Parameters that do not require grad are frozen. Throws Error in these cases:
//   - two parameters have the same name
//   - no parameter is trained
//   - a tensor is not a leaf, or has an unsupported dtype
//   - two parameters share only a part of their memory
ModelParameters sort_parameters(const std::vector<Parameter>& registered);

// Returns all names of a parameter: `first`, and each alias of `first`.
std::vector<std::string> all_names(const std::string& first, const std::vector<Alias>& aliases);

std::int64_t elements_of(const std::vector<UniqueParameter>& parameters);

// Returns the properties of trained parameters that decide how an optimizer updates them. trained,
// aliases, guessed: results of sort_parameters.
std::vector<OptimizedParameter> optimized_parameters(const std::vector<Parameter>& trained,
                                                     const std::vector<Alias>& aliases,
                                                     bool guessed = false);

}  // namespace lockstep
