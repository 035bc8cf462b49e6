// Generates a table with a known signal and without a time.
#pragma once

#include "recipes/gbdt/bars/bars.h"

namespace lockstep::gbdt {

enum class MadeLabel { two_classes, three_classes, number, relevance };

struct MadeTable {
  std::int64_t rows = 0;
  MadeLabel label = MadeLabel::number;
  std::uint64_t seed = 0;
};

inline constexpr std::size_t made_columns = 28;

// Generates the columns x01 to x28 of independent normal random numbers. The label depends on s =
// x01 + x02 x03 + sin(3 x04) + 0.5 e, where e is a normal random number too:
//   - number: s.
//   - two_classes: whether s is above 0.
//   - three_classes: low if s is below -0.6, high if it is above 0.6, and otherwise middle.
//   - relevance: floor(s + 2), clamped to 0 to 4. Every ten rows form a group.
// The same arguments give the same rows.
Bars make_table(const std::string& name, const MadeTable& how);

}  // namespace lockstep::gbdt
