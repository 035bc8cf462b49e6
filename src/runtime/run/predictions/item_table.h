// A table with one row per item, as CSV and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lockstep {

// std::monostate: an empty cell in CSV, `null` in JSON.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct ItemTable {
  std::vector<std::string> columns;  // names; unique, not empty
  std::vector<std::vector<Cell>> rows;

  bool empty() const { return columns.empty(); }
};

// The table's fault (a column with no name or a repeated one, a row of another length), or "".
std::string fault_of(const ItemTable& table);

// RFC 4180 with a header line and "\n" line ends. Texts with commas, quotes or line breaks are
// quoted. Numbers have the fewest digits that read back exactly; also `nan`, `inf`, `-inf`, `true`,
// `false`. fault_of must be "".
std::string to_csv(const ItemTable& table);
// One line of the CSV.
std::string csv_line(const std::vector<Cell>& cells);
// An array of objects, one per line, keys in column order. Non-finite numbers become null; bytes
// that are not UTF-8 are replaced. fault_of must be "".
std::string to_json_text(const ItemTable& table);

}  // namespace lockstep
