// The facts about update rules that the plan, checkpoints and sharding need: a table without
// LibTorch. The update itself is a class of training/update/optimizer_rule.h.
#pragma once

#include "planning/options/train_options.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// A parameter's purpose. Recipes mark it (training/recipe/recipe.h). Rules may treat parameters
// differently by their purpose.
enum class ParameterUse { usual, embedding, head };

// The part of a parameter that an update must see as a whole. It decides where sharding may cut the
// parameter: anywhere, at multiples of arena_alignment (planning/batch/buckets.h), or nowhere.
enum class Granularity { element, range, matrix };

// A trained parameter, with the properties by which rules tell parameters apart.
struct OptimizedParameter {
  std::string name;
  std::vector<std::int64_t> sizes;
  ParameterUse use = ParameterUse::usual;
  bool tied = false;     // has several names
  bool guessed = false;  // `use` follows from guess_uses, not from a mark of the model
  std::int64_t elements() const;
};

// For a model in which no parameter has a mark (ParameterUse): the first and the last parameter of
// two dimensions count as embedding and head. Nothing if one has a mark, or none has two
// dimensions. registered: all parameters of the model in order of registration. Frozen ones are
// included, so that freezing changes no parameter's rule.
struct GuessedUses {
  std::size_t embedding = 0, head = 0;  // places in `registered`; equal if there is only one
};
std::optional<GuessedUses> guess_uses(const std::vector<OptimizedParameter>& registered);

// Whether a rule depends on the model's parameters: it treats them differently, or its memory
// depends on their sizes. The plan then asks the model for them.
bool goes_by_parameters(OptimizerKind kind);

// One entry per parameter. Muon updates matrices: parameters of two dimensions that are not tied,
// and are neither embedding nor head.
std::vector<Granularity> granularities(OptimizerKind kind,
                                       const std::vector<OptimizedParameter>& parameters);

// A tensor of the parameter's shape that the rule keeps for each parameter of some granularities.
struct OptimizerState {
  std::string name;  // its prefix in checkpoints: "exp_avg.NAME"
  bool of_matrices = true, of_others = true;
  double bytes_per_element = 4;
  bool is_of(Granularity granularity) const {
    return granularity == Granularity::matrix ? of_matrices : of_others;
  }
};
std::vector<OptimizerState> optimizer_states(const TrainOptions& options);

// The parameters of a model that a rule updates.
struct RuleCount {
  struct Matrix {
    std::string name, why;  // why: "embedding", "head, tied", "first matrix"
    bool guessed = false;   // OptimizedParameter::guessed
  };
  std::string rule;  // "muon"
  std::vector<std::string> names;
  std::int64_t parameters = 0;     // elements
  std::vector<Matrix> matrices{};  // those of two dimensions that muon leaves to this rule
};
// One entry per rule if the chosen kind has several (muon and adamw); otherwise empty.
std::vector<RuleCount> rule_counts(const TrainOptions& options,
                                   const std::vector<OptimizedParameter>& parameters);

// How many of `count` matrices of one shape muon updates at once on a GPU. Products of many
// matrices at once occupy the GPU better than one product after another. All batches are about
// equal.
std::int64_t muon_batch(std::int64_t count, std::int64_t elements);

// Bytes that a rank needs during an update besides weights, gradients and states.
double update_workspace_bytes(const TrainOptions& options,
                              const std::vector<OptimizedParameter>& parameters);

// Rules between options of the optimizer. Throws Error.
void check_optimizer(const TrainOptions& options);

// For a rule that treats parameters differently: throws Error if it would update none of them.
void check_optimized(const TrainOptions& options, const std::vector<Granularity>& granularities);

}  // namespace lockstep
