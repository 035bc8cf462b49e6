// Notes of a plan about the optimizer: its rates, unused options, and parameters that muon leaves
// to AdamW.
#include "core/base/text/text.h"
#include "planning/notes.h"
#include "planning/words.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {
namespace {

using Notes = std::vector<std::string>;

void note_scaled_rate(const Plan& plan, const TrainOptions& options, Notes& notes) {
  const auto& optimizer = options.optimizer;
  if (plan.schedule.base_lr == optimizer.lr) return;
  const bool linear = optimizer.scale_lr == ScaleLr::linear;
  notes.push_back(cat("scale_lr = ", linear ? "linear" : "sqrt", " changed the learning rate from ",
                      rate_text(optimizer.lr), " to ", rate_text(plan.schedule.base_lr), ", by ",
                      linear ? "" : "the square root of ", plan.batch.global, "/",
                      optimizer.base_batch, " (global batch / optimizer.base_batch)"));
}

constexpr std::string_view prefix = "optimizer.";

// The optimizers that read an option. Empty if all do.
std::vector<std::string> kinds_of_option(std::string_view key) {
  if (!key.starts_with(prefix)) return {};
  const std::string_view name = key.substr(prefix.size());
  if (name.starts_with("muon_") || name == "adamw_lr") return {"muon"};
  if (name == "momentum" || name == "nesterov") return {"sgd"};
  if (name == "beta1" || name == "beta2" || name == "eps") return {"adamw", "adam", "muon"};
  return {};
}

// Notes options that the chosen optimizer does not read. If it has an equivalent option, names that
// one.
void note_optimizer(const TrainOptions& options, Notes& notes) {
  const std::string chosen = options.table.get("optimizer.kind");
  for (const OptionInfo& option : options.table.options()) {
    const std::vector<std::string> kinds = kinds_of_option(option.key);
    const bool is_typed = option.source.kind == ValueSource::Kind::argument ||
                          option.source.kind == ValueSource::Kind::file;
    if (!is_typed || kinds.empty() || std::find(kinds.begin(), kinds.end(), chosen) != kinds.end())
      continue;
    const std::string own = cat(prefix, chosen, "_", option.key.substr(prefix.size()));
    notes.push_back(cat(option.key,
                        " changes nothing: it is for optimizer.kind=", join(kinds, " or "),
                        options.table.has(own) ? cat("; ", chosen, "'s is ", own) : ""));
  }
}

// Learning rates of Muon's first version are about 20 times as large as those for AdamW.
void note_rate_of_adamw(const TrainOptions& options, Notes& notes) {
  const auto& optimizer = options.optimizer;
  if (optimizer.kind != OptimizerKind::muon || optimizer.adamw_lr > 0 ||
      optimizer.muon_adjust_lr != MuonAdjustLr::original)
    return;
  notes.push_back(
      cat("warning: with optimizer.muon_adjust_lr=original embeddings, heads and "
          "vectors train by adamw at optimizer.lr = ",
          rate_text(optimizer.lr),
          " too, and rates that suit muon there are usually far too large for them: "
          "set optimizer.adamw_lr, for example to 3e-4"));
}

void note_guessed_uses(const Plan& plan, Notes& notes) {
  std::vector<std::string> guessed;
  for (const RuleCount& rule : plan.rules)
    for (const RuleCount::Matrix& one : rule.matrices)
      if (one.guessed) guessed.push_back(one.name);
  if (guessed.empty()) return;
  notes.push_back(
      cat("the model marks no embedding and no head (Parameter::use), so its first and "
          "its last matrix are taken for them: adamw updates ",
          join(guessed, " and ")));
}

}  // namespace

std::vector<std::string> optimizer_notes(const Plan& plan, const TrainOptions& options) {
  Notes notes;
  note_scaled_rate(plan, options, notes);
  note_optimizer(options, notes);
  note_rate_of_adamw(options, notes);
  note_guessed_uses(plan, notes);
  return notes;
}

}  // namespace lockstep
