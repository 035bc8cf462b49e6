// The leaves that a tree can have at most, by the rows of its training and by max_depth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

// Leaves of a tree on so many rows, if num_leaves asks for more than `full`. LightGBM estimates the
// rows of a leaf by their second derivatives, unless all rows have the same: a leaf may have fewer
// than min_data_in_leaf, but at least one. It counts the rows of the node that it splits, which are
// at least twice min_data_in_leaf. A depth allows a power of 2, but CUDA ignores it.
struct LeavesInReach {
  std::int64_t asked = 0, least_rows = 0;       // num_leaves, min_data_in_leaf
  std::int64_t max_depth = 0, by_depth = 0;     // and the leaves that it allows; 0: any number
  std::int64_t full = 0;                        // that have least_rows each, up to by_depth
  std::int64_t most = 0;                        // that a tree can have
  bool cannot() const { return most < asked; }  // else a tree may reach num_leaves
};
// Nothing if splits are forced, which LightGBM does not check.
std::optional<LeavesInReach> leaves_in_reach(const Parameters& asked, std::int64_t rows);
// "90 rows make 4 leaves of 20 rows (min_child_samples)", and how many more there may be; or what
// max_depth allows. rows: "90 rows". `to`: of more rows, for the range from these to those.
std::string leaves_text(const std::string& rows, const LeavesInReach& leaves,
                        const LeavesInReach& to);
// Says, before training, that the rows or the depth may be too few for num_leaves: "" if they
// are not.
std::string few_rows_note(const Parameters& asked, std::int64_t rows);

}  // namespace lockstep::gbdt
