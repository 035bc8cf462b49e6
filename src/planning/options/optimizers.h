// The properties of update rules that the plan, checkpoints and sharding need, without LibTorch.
// The update itself is a class of training/update/optimizer_rule.h.
#pragma once

#include "planning/options/train_options.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// The role of a parameter in its model. Recipes mark it (training/recipe/recipe.h), and rules may
// depend on it.
enum class ParameterUse { usual, embedding, head };

// The unit of a parameter that an update must process as a whole. It decides where sharding may cut
// the parameter: anywhere (element), at multiples of arena_alignment in planning/batch/buckets.h
// (range), or nowhere (matrix).
enum class Granularity { element, range, matrix };

// A trained parameter, with the properties on which rules depend.
struct OptimizedParameter {
  std::string name;
  std::vector<std::int64_t> sizes;
  ParameterUse use = ParameterUse::usual;
  bool tied = false;     // it has several names
  bool guessed = false;  // `use` comes from guess_uses, not from a mark in the model
  std::int64_t elements() const;
};

// The guessed roles of parameters, for a model in which no parameter has a mark (ParameterUse). The
// first parameter with two dimensions counts as embedding, and the last as head. guess_uses returns
// nothing if a parameter has a mark, or if no parameter has two dimensions. registered: all
// parameters of the model in order of registration. Frozen parameters are included, so that
// freezing changes no parameter's rule.
struct GuessedUses {
  // indexes into `registered`; equal if only one parameter has two dimensions
  std::size_t embedding = 0, head = 0;
};
std::optional<GuessedUses> guess_uses(const std::vector<OptimizedParameter>& registered);

// Whether the plan needs the list of parameters for this kind. It does if the kind treats
// parameters differently, or if its memory depends on the parameters' sizes.
bool goes_by_parameters(OptimizerKind kind);

// Returns one entry per parameter. Muon updates parameters with two dimensions as matrices, unless
// they are tied, an embedding or a head.
std::vector<Granularity> granularities(OptimizerKind kind,
                                       const std::vector<OptimizedParameter>& parameters);

// A tensor of the parameter's shape. The update rule keeps it for each parameter with a Granularity
// for which is_of() is true.
struct OptimizerState {
  std::string name;  // its prefix in checkpoints: "exp_avg.NAME"
  bool of_matrices = true, of_others = true;
  double bytes_per_element = 4;
  bool is_of(Granularity granularity) const {
    return granularity == Granularity::matrix ? of_matrices : of_others;
  }
};
std::vector<OptimizerState> optimizer_states(const TrainOptions& options);

// The parameters of a model that one rule updates.
struct RuleCount {
  struct Matrix {
    std::string name, why;  // why: "embedding", "head, tied", "first matrix"
    bool guessed = false;   // OptimizedParameter::guessed
  };
  std::string rule;  // "muon"
  std::vector<std::string> names;
  std::int64_t parameters = 0;     // number of elements
  std::vector<Matrix> matrices{};  // parameters with two dimensions that muon leaves to this rule
};
// Returns one entry per rule if the kind has several rules (muon and adamw). Otherwise returns
// nothing.
std::vector<RuleCount> rule_counts(const TrainOptions& options,
                                   const std::vector<OptimizedParameter>& parameters);

// How many of `count` matrices of one shape muon updates in one batch on a GPU. Batched products
// use the GPU better than one product after another. All batches have about the same size.
std::int64_t muon_batch(std::int64_t count, std::int64_t elements);

// The bytes that a rank needs during an update in addition to weights, gradients and states.
double update_workspace_bytes(const TrainOptions& options,
                              const std::vector<OptimizedParameter>& parameters);

// Throws Error if options of the optimizer contradict each other.
void check_optimizer(const TrainOptions& options);

// Throws Error if the kind is muon and no parameter is a matrix that muon can update.
void check_optimized(const TrainOptions& options, const std::vector<Granularity>& granularities);

}  // namespace lockstep
