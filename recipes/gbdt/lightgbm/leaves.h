// Computes the largest number of leaves that a tree can have. The training rows and max_depth limit
// this number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

// Limits for the leaves of a tree, if num_leaves is above `full`. LightGBM estimates the number of
// rows of a leaf from their second derivatives. The estimate is exact only if these are equal for
// all rows. Otherwise, a leaf may have fewer than min_data_in_leaf rows, but at least one. Rows of
// a node that is split are counted exactly, and are at least twice min_data_in_leaf. A depth of D
// allows 2^D leaves, but CUDA ignores max_depth.
struct LeavesInReach {
  std::int64_t asked = 0, least_rows = 0;  // num_leaves and min_data_in_leaf
  // max_depth, and the leaves that it allows; both are 0 if it does not limit them
  std::int64_t max_depth = 0, by_depth = 0;
  std::int64_t full = 0;                        // leaves of least_rows each, at most by_depth
  std::int64_t most = 0;                        // largest number of leaves of a tree
  bool cannot() const { return most < asked; }  // if false, a tree may reach num_leaves
};
// Returns nothing if `full` reaches num_leaves. Also returns nothing if splits are forced, because
// LightGBM does not check their leaves.
std::optional<LeavesInReach> leaves_in_reach(const Parameters& asked, std::int64_t rows);
// Returns a text like "90 rows make 4 leaves of 20 rows (min_child_samples)". It also has the
// largest possible number of leaves. If max_depth decides, it has only the number that max_depth
// allows. rows: a text like "90 rows". to: the limits for a larger number of rows. If `leaves` and
// `to` differ, the text has ranges.
std::string leaves_text(const std::string& rows, const LeavesInReach& leaves,
                        const LeavesInReach& to);
// Returns a note, before training, that num_leaves may not be reached because of the rows or the
// depth. It is empty if num_leaves can be reached.
std::string few_rows_note(const Parameters& asked, std::int64_t rows);

}  // namespace lockstep::gbdt
