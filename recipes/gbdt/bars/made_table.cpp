#include "recipes/gbdt/bars/made_table.h"

#include <algorithm>
#include <cmath>

#include "core/base/hash.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

double label_of(MadeLabel kind, double signal) {
  constexpr double edge = 0.6;
  switch (kind) {
    case MadeLabel::two_classes:
      return signal > 0 ? 1 : 0;
    case MadeLabel::three_classes:
      return signal > edge ? 2 : signal < -edge ? 0 : 1;
    case MadeLabel::relevance:
      return std::clamp(std::floor(signal + 2), 0.0, 4.0);
    case MadeLabel::number:
      break;
  }
  return signal;
}

}  // namespace

Bars make_table(const std::string& name, const MadeTable& how) {
  constexpr std::int64_t group_rows = 10;
  Bars table{.symbol = name, .timeless = true};
  if (how.label == MadeLabel::two_classes) table.classes = {"0", "1"};
  if (how.label == MadeLabel::three_classes) table.classes = {"low", "middle", "high"};
  for (std::size_t i = 1; i <= made_columns; ++i)
    table.own_names.push_back(cat(i < 10 ? "x0" : "x", i));
  table.own.reserve(static_cast<std::size_t>(how.rows) * made_columns);
  table.days.assign(static_cast<std::size_t>(how.rows), 0);
  table.notes.push_back("the table is made, with a planted signal");
  Random random(how.seed, RandomStream::sample, hash64(name), 0);
  for (std::int64_t row = 0; row < how.rows; ++row) {
    table.stamps.push_back(std::to_string(row + 1));
    for (std::size_t i = 0; i < made_columns; ++i) table.own.push_back(random.normal());
    const double* const x = table.own.data() + table.own.size() - made_columns;
    const double signal = x[0] + x[1] * x[2] + std::sin(3 * x[3]) + 0.5 * random.normal();
    table.labels.push_back(label_of(how.label, signal));
    if (how.label != MadeLabel::relevance) continue;
    table.groups.push_back(row / group_rows);
    if (row % group_rows == 0) table.group_names.push_back(cat(row / group_rows + 1));
  }
  Hasher hasher;
  hasher.update(cat(name, "|", how.rows, "|", static_cast<int>(how.label), "|", how.seed));
  table.hash = hasher.hex();
  return table;
}

}  // namespace lockstep::gbdt
