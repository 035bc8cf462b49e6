// A table with one row per item, as CSV and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lockstep {

// std::monostate is an empty cell in CSV and `null` in JSON.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct ItemTable {
  std::vector<std::string> columns;  // names; unique and not empty
  std::vector<std::vector<Cell>> rows;

  bool empty() const { return columns.empty(); }
};

// Describes the table's fault; empty if the table has none. A fault is a column with an empty or
// repeated name, or a row whose length differs from the number of columns.
std::string fault_of(const ItemTable& table);

// Returns CSV as in RFC 4180, with a header line and "\n" line ends. Texts with commas, quotes or
// line breaks are quoted. Numbers have the fewest digits that read back exactly. Non-finite numbers
// are `nan`, `inf` and `-inf`, and booleans are `true` and `false`. The table must have no fault.
std::string to_csv(const ItemTable& table);
// Returns the cells as one line of CSV.
std::string csv_line(const std::vector<Cell>& cells);
// Returns a JSON array with one object per row, each on its own line. Keys are in column order.
// Non-finite numbers become null. Bytes that are not UTF-8 are replaced. The table must have no
// fault.
std::string to_json_text(const ItemTable& table);

}  // namespace lockstep
