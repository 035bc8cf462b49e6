// Numbers as price files and tables write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

// Whether the cell is "", "-", null, nan, -nan, na, n/a, #n/a or <NA> in any case, or another text
// that pandas.read_csv reads as missing: None, #NA, #N/A N/A, 1.#IND, 1.#QNAN and their negatives.
bool is_missing(std::string_view cell);

// Parses a number as pandas.read_csv does, including inf, and 0 for a number too small for a
// double. Nothing for text that is not a number, and for a number too large for a double.
std::optional<double> float_of(std::string_view cell);

// Parses True, TRUE or true, and False, FALSE or false, as pandas does. Nothing for anything else.
std::optional<bool> boolean_of(std::string_view cell);

// How a file writes its prices.
struct PriceStyle {
  // Whether commas separate thousands. They do if some cell has commas and a decimal point, or
  // commas around three digits, and no cell has a comma elsewhere than between thousands.
  bool grouped = false;
};
PriceStyle price_style(const CellTable& table, const std::vector<std::size_t>& columns);

// Parses a price: "1170.6", "$1,170.60". Nothing for anything else, including values that are not
// finite.
std::optional<double> price_of(std::string_view cell, const PriceStyle& style);
// Parses a volume. It may also be like "1.2M", with K, M, B or T.
std::optional<double> volume_of(std::string_view cell, const PriceStyle& style);

}  // namespace lockstep::gbdt
