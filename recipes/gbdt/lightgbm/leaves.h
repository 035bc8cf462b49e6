// Computes the largest number of leaves that a tree can have. The number of training rows and the
// parameter max_depth limit it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

// Limits for the number of leaves of a tree. LightGBM estimates the number of rows in a leaf from
// the second derivatives of the loss. The estimate is exact only if these are equal for all rows.
// Otherwise, a leaf may have fewer than min_data_in_leaf rows, but at least one. The rows of a node
// that is split are counted exactly; there must be at least twice min_data_in_leaf. A depth of D
// allows 2^D leaves, but CUDA ignores max_depth.
struct LeavesInReach {
  std::int64_t asked = 0, least_rows = 0;  // num_leaves and min_data_in_leaf
  // max_depth, and the number of leaves that it allows; both are 0 if there is no limit
  std::int64_t max_depth = 0, by_depth = 0;
  std::int64_t full = 0;  // number of leaves of least_rows rows, at most by_depth
  std::int64_t most = 0;  // largest number of leaves of a tree
  bool cannot() const { return most < asked; }  // whether no tree reaches num_leaves
};
// Returns nothing if `full` is at least num_leaves. Also returns nothing if splits are forced
// (forcedsplits_filename), because LightGBM does not check their leaves. rows: number of training
// rows.
std::optional<LeavesInReach> leaves_in_reach(const Parameters& asked, std::int64_t rows);
// Returns a text like "90 rows make 4 leaves of 20 rows (min_child_samples)", with the largest
// possible number of leaves. If max_depth is the stricter limit, the text has only the number that
// max_depth allows. rows: a text like "90 rows". to: the limits for a larger number of rows. If
// `leaves` and `to` differ, the text has ranges such as "4 to 6".
std::string leaves_text(const std::string& rows, const LeavesInReach& leaves,
                        const LeavesInReach& to);
// Returns a note if trees cannot or may not reach num_leaves because of the number of rows or the
// depth. Otherwise, the note is empty. rows: number of training rows.
std::string few_rows_note(const Parameters& asked, std::int64_t rows);

}  // namespace lockstep::gbdt
