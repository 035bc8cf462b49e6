// Finds the columns of a table from which bars are read.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

inline constexpr std::array price_names = {"open", "high", "low", "close", "volume"};
inline constexpr std::size_t volume_place = 4;

struct BarPlaces {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t stamp = none, clock = none;                // clock: time of day, if `stamp` is a date
  std::array<std::size_t, price_names.size()> prices{};  // `none`: the column is not read
  std::vector<std::size_t> own;
  std::size_t label = none, group = none, symbol = none;
  std::vector<std::string> notes;
};

// Returns the indexes of the columns from which bars are read. Throws Error for missing columns,
// and for prices of several symbols, as read_bars does.
BarPlaces find_places(const CellTable& table, const BarColumns& wanted);

inline bool takes_prices(const BarColumns& wanted) {
  return wanted.prices != BarColumns::Prices::none;
}

}  // namespace lockstep::gbdt
