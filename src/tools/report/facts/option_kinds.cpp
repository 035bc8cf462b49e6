#include "tools/report/facts/option_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace lockstep {
namespace {

constexpr auto work = FactKind::work, means = FactKind::means;

// The first row whose key matches applies.
constexpr std::array option_rows{
    OptionKind{"seed", means},
    OptionKind{"precision"},  // a fact of the plan
    OptionKind{"reduce_precision", means},
    OptionKind{"reduce_bucket_mb", means},
    OptionKind{"shard_optimizer", means},
    OptionKind{"exact", means},
    OptionKind{"deterministic", means},
    OptionKind{"graph", means},
    OptionKind{"graph_shapes", means},
    OptionKind{"on_nan", work},
    OptionKind{"restart"},
    OptionKind{"preset"},            // its values are options themselves
    OptionKind{"batch."},            // the plan has the resulting sizes
    OptionKind{"memory.recompute"},  // the plan has the result
    OptionKind{"norm.", work},
    OptionKind{"matmul.tf32"},  // a fact of the plan
    OptionKind{"optimizer.", work},
    OptionKind{"train.", work},
    OptionKind{"init.from"},        // a path; the hashes of its files are a fact
    OptionKind{"init.checkpoint"},  // the hashes of the chosen files are a fact
    OptionKind{"init.", work},
    OptionKind{"ema.", work},
    OptionKind{"schedule.", work},
    OptionKind{"stop.steps"},  // the plan has the steps, and the finished steps are a fact
    OptionKind{"stop.epochs"},
    OptionKind{"stop.patience", work},
    OptionKind{"stop.patience_epochs", work},
    OptionKind{"stop."},
    OptionKind{"check.", means},
    OptionKind{"data.shuffle", work},
    OptionKind{"data.drop_last", work},
    OptionKind{"data.group_by_length", work},
    OptionKind{"data.threads", means},
    OptionKind{"data.prefetch", means},
    OptionKind{"checkpoint.best_metric"},
    OptionKind{"checkpoint.", means},
    OptionKind{"eval.keep"},
    OptionKind{"eval.", means},
    OptionKind{"run.record_samples", means},
    OptionKind{"run."},
    OptionKind{"log.limit_mb"},
    OptionKind{"log.", means},
    OptionKind{"profile.", means},
    OptionKind{"predict."},
    OptionKind{"score."},
};

// Options that change the numbers but not the time of a step. An option is listed only if that is
// certain. For others, speed is not comparable until --varied names them.
constexpr std::array<std::string_view, 9> same_cost = {
    "optimizer.lr",    "optimizer.scale_lr", "optimizer.base_batch",
    "optimizer.beta1", "optimizer.beta2",    "optimizer.eps",
    "schedule.",       "stop.patience",      "stop.patience_epochs"};

// Options that do not change the time of a step as long as both values are above 0. The value 0
// removes a part of the step.
constexpr std::array<std::string_view, 4> same_cost_above_zero = {
    "optimizer.weight_decay", "optimizer.momentum", "optimizer.clip", "ema.decay"};

bool fits(std::string_view row, std::string_view key) {
  return row.ends_with('.') ? key.starts_with(row) : key == row;
}

bool above_zero(const nlohmann::json& value) {
  if (value.is_array()) return std::all_of(value.begin(), value.end(), above_zero);
  return value.is_number() && value.get<double>() > 0;
}

}  // namespace

const OptionKind* engine_option(std::string_view key) {
  for (const OptionKind& row : option_rows)
    if (fits(row.key, key)) return &row;
  return nullptr;
}

std::optional<FactKind> option_kind(std::string_view key) {
  const OptionKind* const row = engine_option(key);
  return row == nullptr ? std::optional(work) : row->kind;
}

bool is_seed(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const std::size_t at = lower.find_last_of("._/- ");
  return lower.substr(at == lower.npos ? 0 : at + 1) == "seed" || lower.ends_with("random_state");
}

bool step_costs_the_same(std::string_view key, const nlohmann::json& a, const nlohmann::json& b) {
  const auto is_key = [&](std::string_view row) { return fits(row, key); };
  if (std::any_of(same_cost.begin(), same_cost.end(), is_key)) return true;
  return std::any_of(same_cost_above_zero.begin(), same_cost_above_zero.end(), is_key) &&
         above_zero(a) && above_zero(b);
}

}  // namespace lockstep
