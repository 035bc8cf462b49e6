// Parses numbers as price files and tables write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

// Whether the cell has no value. It is then empty, or -, null, nan, -nan, na, n/a, #n/a or <NA>, in
// upper or lower case. Other texts that pandas.read_csv reads as missing also have no value: None,
// #NA, #N/A N/A, 1.#IND, 1.#QNAN and their negatives.
bool is_missing(std::string_view cell);

// Parses a number as pandas.read_csv does, including inf. A number too small for a double is 0.
// Returns nothing for a number too large for a double, and for other text.
std::optional<double> float_of(std::string_view cell);

// Parses True, TRUE or true, and False, FALSE or false, as pandas does. Returns nothing for other
// text.
std::optional<bool> boolean_of(std::string_view cell);

// How prices are written in a file.
struct PriceStyle {
  // Whether commas separate thousands. For this, every comma in the columns must be where thousands
  // are separated. Some cell must also have a decimal point or two commas, which shows that commas
  // are not decimal points.
  bool grouped = false;
};
PriceStyle price_style(const CellTable& table, const std::vector<std::size_t>& columns);

// Parses a price: "1170.6", "$1,170.60". Returns nothing for other text and for numbers that are
// not finite.
std::optional<double> price_of(std::string_view cell, const PriceStyle& style);
// Parses a volume. The cell may be like a price, or also end in K, M, B or T, like "1.2M".
std::optional<double> volume_of(std::string_view cell, const PriceStyle& style);

}  // namespace lockstep::gbdt
