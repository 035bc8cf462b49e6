// Which of a model's parameters are trained, which are frozen, and which are one tensor under two
// names.
#pragma once

#include "planning/options/optimizers.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// A parameter once, under the first name that it was registered with.
struct UniqueParameter {
  Parameter parameter;  // tensor: the first handle, of those that require grad if any do
  std::vector<at::Tensor> handles;  // all distinct handles of this memory, `parameter.tensor` first
};

// Another name of a parameter, or of a buffer: the same tensor, or one that shares all its memory.
struct Alias {
  std::string name, of;  // of: the first name
};

struct ModelParameters {
  std::vector<UniqueParameter> trained, frozen;  // each in order of registration
  std::vector<Alias> aliases;
  // Whether the model marks no Parameter::use, so that those of its first and of its last matrix
  // are set here by guess_uses (planning/options/optimizers.h).
  bool guessed_uses = false;
};

// Frozen is what does not require grad. Throws Error where a name comes twice, where nothing is
// trained, for tensors that are no leaf, for types that are not supported, and for parameters that
// share a part of their memory only.
ModelParameters sort_parameters(const std::vector<Parameter>& registered);

// The first name, and the others that aliases give it.
std::vector<std::string> all_names(const std::string& first, const std::vector<Alias>& aliases);

std::int64_t elements_of(const std::vector<UniqueParameter>& parameters);

// Parameters of sort_parameters as update rules tell them apart. aliases: their other names.
// guessed: ModelParameters::guessed_uses.
std::vector<OptimizedParameter> optimized_parameters(const std::vector<Parameter>& trained,
                                                     const std::vector<Alias>& aliases,
                                                     bool guessed = false);

}  // namespace lockstep
