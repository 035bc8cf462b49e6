#include "report/option_kinds.h"

#include <array>

namespace lockstep {
namespace {

constexpr auto work = FactKind::work, means = FactKind::means;

// The first row that fits counts.
constexpr std::array option_rows{
    OptionKind{"seed", means},
    OptionKind{"precision"},  // the plan has it
    OptionKind{"reduce_precision", means},
    OptionKind{"reduce_bucket_mb", means},
    OptionKind{"shard_optimizer", means},
    OptionKind{"exact", means},
    OptionKind{"deterministic", means},
    OptionKind{"graph", means},
    OptionKind{"graph_shapes", means},
    OptionKind{"on_nan", work},
    OptionKind{"restart"},
    OptionKind{"preset"},            // its values are options of their own
    OptionKind{"batch."},            // the plan has what became of them
    OptionKind{"memory.recompute"},  // likewise
    OptionKind{"norm.", work},
    OptionKind{"matmul.tf32"},  // the plan has it
    OptionKind{"optimizer.", work},
    OptionKind{"train.", work},
    OptionKind{"init.from"},        // a path; the hashes of its files are a fact
    OptionKind{"init.checkpoint"},  // likewise
    OptionKind{"init.", work},
    OptionKind{"ema.", work},
    OptionKind{"schedule.", work},
    OptionKind{"stop.steps"},  // the plan's steps, and those that were done
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

}  // namespace

const OptionKind* engine_option(std::string_view key) {
  for (const OptionKind& row : option_rows)
    if (row.key.ends_with('.') ? key.starts_with(row.key) : key == row.key) return &row;
  return nullptr;
}

std::optional<FactKind> option_kind(std::string_view key) {
  const OptionKind* const row = engine_option(key);
  return row == nullptr ? std::optional(work) : row->kind;
}

}  // namespace lockstep
