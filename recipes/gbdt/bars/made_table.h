// Generates a plain table without a time, with a known signal.
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

// Columns x01 to x28 of independent normal numbers. Let s = x01 + x02 x03 + sin(3 x04) + 0.5 e,
// where e is normal too. Depending on the kind, the label is s; or whether s is above 0; or low
// below -0.6, high above 0.6, else middle; or, for groups of ten rows, how relevant a row is:
// floor(s + 2), clamped to 0 to 4. The same name and seed give the same rows.
Bars make_table(const std::string& name, const MadeTable& how);

}  // namespace lockstep::gbdt
