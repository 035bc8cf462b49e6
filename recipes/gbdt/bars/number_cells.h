// Numbers as price files and tables write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

// "", "-", null, nan, -nan, na, n/a, #n/a, <NA> in any case, and what else pandas.read_csv takes
// for missing: None, #NA, #N/A N/A, 1.#IND, 1.#QNAN and their negatives.
bool is_missing(std::string_view cell);

// As pandas.read_csv: also inf, and 0 for what is too small for a double. Nothing for what is no
// number or too large for a double.
std::optional<double> float_of(std::string_view cell);

// True, TRUE or true; False, FALSE or false: as pandas reads them. Nothing for anything else.
std::optional<bool> boolean_of(std::string_view cell);

// How a file writes its prices.
struct PriceStyle {
  // Commas stand between thousands: some cell has commas and a point for the decimals, or commas
  // around three digits; and no cell has a comma where no thousands end.
  bool grouped = false;
};
PriceStyle price_style(const CellTable& table, const std::vector<std::size_t>& columns);

// A price: "1170.6", "$1,170.60". Nothing for anything else, also for what is not finite.
std::optional<double> price_of(std::string_view cell, const PriceStyle& style);
// A volume: also "1.2M" with K, M, B or T.
std::optional<double> volume_of(std::string_view cell, const PriceStyle& style);

}  // namespace lockstep::gbdt
