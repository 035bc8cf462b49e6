#include "planning/options/optimizers.h"

#include "core/base/check.h"
#include "core/base/error.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace lockstep {
namespace {

bool is_two_dimensional(const OptimizedParameter& one) {
  return one.sizes.size() == 2 && one.elements() > 0;
}

// Why muon leaves a two-dimensional parameter to AdamW. Empty if muon updates it.
std::string why_adamw(const OptimizedParameter& one) {
  std::string why;
  if (one.use == ParameterUse::embedding) why = one.guessed ? "first matrix" : "embedding";
  if (one.use == ParameterUse::head) why = one.guessed ? "last matrix" : "head";
  if (one.tied) why += why.empty() ? "tied" : ", tied";
  return why;
}

std::vector<Granularity> muon_granularities(const std::vector<OptimizedParameter>& parameters) {
  std::vector<Granularity> found;
  for (const OptimizedParameter& one : parameters)
    found.push_back(is_two_dimensional(one) && why_adamw(one).empty() ? Granularity::matrix
                                                                      : Granularity::range);
  return found;
}

}  // namespace

std::optional<GuessedUses> guess_uses(const std::vector<OptimizedParameter>& registered) {
  std::optional<GuessedUses> guessed;
  for (std::size_t i = 0; i < registered.size(); ++i) {
    if (registered[i].use != ParameterUse::usual) return std::nullopt;
    if (!is_two_dimensional(registered[i])) continue;
    if (!guessed) guessed = GuessedUses{.embedding = i, .head = i};
    guessed->head = i;
  }
  return guessed;
}

std::int64_t OptimizedParameter::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

bool goes_by_parameters(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adamw:
    case OptimizerKind::adam:
    case OptimizerKind::sgd:
      return false;
    case OptimizerKind::muon:
      return true;
  }
  LOCKSTEP_CHECK(false);
}

std::vector<Granularity> granularities(OptimizerKind kind,
                                       const std::vector<OptimizedParameter>& parameters) {
  switch (kind) {
    case OptimizerKind::adamw:
    case OptimizerKind::adam:
      return std::vector(parameters.size(), Granularity::range);  // our kernel reads vectors
    case OptimizerKind::sgd:
      return std::vector(parameters.size(), Granularity::element);
    case OptimizerKind::muon:
      return muon_granularities(parameters);
  }
  LOCKSTEP_CHECK(false);
}

std::vector<OptimizerState> optimizer_states(const TrainOptions& options) {
  switch (options.optimizer.kind) {
    case OptimizerKind::adamw:
    case OptimizerKind::adam:
      return {{.name = "exp_avg"}, {.name = "exp_avg_sq"}};
    case OptimizerKind::sgd:
      if (options.optimizer.momentum == 0) return {};
      return {{.name = "momentum"}};
    case OptimizerKind::muon:
      return {{.name = "momentum_buffer", .of_others = false},
              {.name = "exp_avg", .of_matrices = false},
              {.name = "exp_avg_sq", .of_matrices = false}};
  }
  LOCKSTEP_CHECK(false);
}

std::vector<RuleCount> rule_counts(const TrainOptions& options,
                                   const std::vector<OptimizedParameter>& parameters) {
  if (options.optimizer.kind != OptimizerKind::muon || parameters.empty()) return {};
  const std::vector<Granularity> kinds = granularities(options.optimizer.kind, parameters);
  std::vector<RuleCount> counts{{.rule = "muon", .names = {}}, {.rule = "adamw", .names = {}}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    RuleCount& count = counts[kinds[i] == Granularity::matrix ? 0 : 1];
    count.names.push_back(parameters[i].name);
    count.parameters += parameters[i].elements();
    if (is_two_dimensional(parameters[i]) && kinds[i] != Granularity::matrix)
      count.matrices.push_back({.name = parameters[i].name,
                                .why = why_adamw(parameters[i]),
                                .guessed = parameters[i].guessed});
  }
  return counts;
}

std::int64_t muon_batch(std::int64_t count, std::int64_t elements) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 26;  // 128 MiB in bf16
  constexpr std::int64_t most_matrices = 4096;                   // a CUDA grid has a limit
  LOCKSTEP_CHECK(count > 0 && elements > 0);
  const std::int64_t most = std::clamp<std::int64_t>(most_elements / elements, 1, most_matrices);
  const std::int64_t batches = (count + most - 1) / most;
  return (count + batches - 1) / batches;
}

double update_workspace_bytes(const TrainOptions& options,
                              const std::vector<OptimizedParameter>& parameters) {
  if (options.optimizer.kind != OptimizerKind::muon) return 0;
  // ATen's path holds a matrix in fp32, in fp64 and twice in bf16. It also holds two products with
  // the transpose in bf16. Our kernels hold each matrix of a batch twice in bf16, and two products
  // for each.
  constexpr double by_aten = 4 + 8 + 2 * 2, by_kernels = 2 * 2, per_product = 2 * 2;
  const std::vector<Granularity> kinds = granularities(options.optimizer.kind, parameters);
  std::map<std::vector<std::int64_t>, std::int64_t> counts;  // number of matrices of each shape
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (kinds[i] == Granularity::matrix) ++counts[parameters[i].sizes];
  double most = 0;
  for (const auto& [sizes, count] : counts) {
    const auto elements = static_cast<double>(sizes[0] * sizes[1]);
    const auto shorter = static_cast<double>(std::min(sizes[0], sizes[1]));
    const double products = per_product * shorter * shorter;
    const auto batch = static_cast<double>(muon_batch(count, sizes[0] * sizes[1]));
    most =
        std::max({most, by_aten * elements + products, batch * (by_kernels * elements + products)});
  }
  return most;
}

void check_optimizer(const TrainOptions& options) {
  const auto& optimizer = options.optimizer;
  if (optimizer.kind == OptimizerKind::muon && optimizer.adamw_lr > 0 && optimizer.lr == 0)
    throw Error(
        "optimizer.adamw_lr follows the curve of optimizer.lr, which must be above 0, but is 0",
        "set optimizer.lr; to keep some matrices as they are name them in train.freeze");
}

void check_optimized(const TrainOptions& options, const std::vector<Granularity>& granularities) {
  if (options.optimizer.kind != OptimizerKind::muon) return;
  if (std::find(granularities.begin(), granularities.end(), Granularity::matrix) ==
      granularities.end())
    throw Error(
        "optimizer.kind=muon updates matrices of hidden layers, but the model trains none: its "
        "parameters are embeddings, heads, vectors and convolutions",
        "set optimizer.kind=adamw");
}

}  // namespace lockstep
