#include "recipes/gbdt/lightgbm/leaves.h"

#include <algorithm>

#include "core/base/text/text.h"
#include "core/media/csv_table.h"

namespace lockstep::gbdt {
namespace {

std::int64_t whole_or(const Parameters& asked, const char* name, double otherwise) {
  return static_cast<std::int64_t>(to_number(value_of(asked, name, "")).value_or(otherwise));
}

// Whether the second derivative is the same for all rows. LightGBM then knows the number of rows in
// a leaf.
bool counts_rows(const Parameters& asked) {
  const std::string objective = value_of(asked, "objective", "");
  for (const char* same : {"regression", "regression_l1", "huber", "quantile", "mape"})
    if (objective == same)
      return !is_goss(asked) && value_of(asked, "use_quantized_grad", "").empty();
  return false;
}

}  // namespace

std::optional<LeavesInReach> leaves_in_reach(const Parameters& asked, std::int64_t rows) {
  if (!value_of(asked, "forcedsplits_filename", "").empty()) return std::nullopt;
  const std::int64_t least = whole_or(asked, "min_data_in_leaf", 20);
  LeavesInReach leaves{.asked = whole_or(asked, "num_leaves", 31),
                       .least_rows = std::max<std::int64_t>(1, least)};
  leaves.full = std::max<std::int64_t>(1, rows / leaves.least_rows);
  constexpr std::int64_t depth_of_any = 31;  // allows more leaves than LightGBM supports
  const std::int64_t depth = whole_or(asked, "max_depth", -1);
  if (depth > 0 && depth < depth_of_any && value_of(asked, "device_type", "cpu") != "cuda") {
    leaves.max_depth = depth;
    leaves.by_depth = std::int64_t{1} << depth;
  }
  // the least rows of a node that can be split
  const std::int64_t last_split = 2 * leaves.least_rows;
  leaves.most = rows < last_split || counts_rows(asked) ? leaves.full : rows - last_split + 2;
  if (leaves.by_depth > 0) {
    leaves.full = std::min(leaves.full, leaves.by_depth);
    leaves.most = std::min(leaves.most, leaves.by_depth);
  }
  if (leaves.full >= leaves.asked) return std::nullopt;
  return leaves;
}

std::string leaves_text(const std::string& rows, const LeavesInReach& leaves,
                        const LeavesInReach& to) {
  const auto range = [](std::int64_t low, std::int64_t high) {
    return low == high ? cat(low) : cat(low, " to ", high);
  };
  if (to.most == 1)
    return cat(rows, " make one leaf: nodes of fewer than ", 2 * leaves.least_rows,
               " rows (twice min_child_samples) are not split");
  const std::string depth = cat("max_depth=", to.max_depth);
  if (leaves.full == leaves.by_depth)
    return cat(depth, " allows at most ", leaves.by_depth, " leaves");
  const std::string by_depth = to.most == to.by_depth ? cat(", by ", depth) : "";
  const std::string full = cat(range(leaves.full, to.full), " leaves of ", leaves.least_rows,
                               " rows (min_child_samples)");
  if (to.most == to.full) return cat(rows, " make at most ", full, by_depth);
  return cat(rows, " make ", full,
             "; LightGBM estimates the rows of a leaf, so a tree may have more, but at most ",
             range(leaves.most, to.most), by_depth);
}

std::string few_rows_note(const Parameters& asked, std::int64_t rows) {
  const auto leaves = leaves_in_reach(asked, rows);
  if (!leaves) return "";
  return cat("num_leaves=", leaves->asked, leaves->cannot() ? " cannot" : " may not",
             " be reached: ", leaves_text(cat(rows, " rows"), *leaves, *leaves));
}

}  // namespace lockstep::gbdt
