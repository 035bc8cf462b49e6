// The most leaves that a tree can have, limited by its training rows and by max_depth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

// The leaves that a tree can reach on so many rows, if num_leaves is above `full`. LightGBM
// estimates the rows of a leaf by their second derivatives, unless these are equal for all rows. So
// a leaf may have fewer than min_data_in_leaf rows, but at least one. LightGBM counts the rows of a
// node that it splits exactly; these are at least twice min_data_in_leaf. A depth allows a power of
// 2, but CUDA ignores it.
struct LeavesInReach {
  std::int64_t asked = 0, least_rows = 0;  // num_leaves, min_data_in_leaf
  // and the leaves that this depth allows; 0: any number
  std::int64_t max_depth = 0, by_depth = 0;
  std::int64_t full = 0;                        // leaves with least_rows each, at most by_depth
  std::int64_t most = 0;                        // the most leaves of a tree
  bool cannot() const { return most < asked; }  // false: a tree may reach num_leaves
};
// Nothing if splits are forced, which LightGBM does not check.
std::optional<LeavesInReach> leaves_in_reach(const Parameters& asked, std::int64_t rows);
// "90 rows make 4 leaves of 20 rows (min_child_samples)", and the number that is still possible; or
// what max_depth allows. rows: "90 rows". to: the leaves for more rows; the text then gives a
// range.
std::string leaves_text(const std::string& rows, const LeavesInReach& leaves,
                        const LeavesInReach& to);
// Says, before training, that num_leaves may not be reached because of the rows or the depth. "" if
// it can be reached.
std::string few_rows_note(const Parameters& asked, std::int64_t rows);

}  // namespace lockstep::gbdt
