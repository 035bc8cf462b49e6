// A table with a row per item, as CSV and as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lockstep {

// Nothing: an empty cell, `null`.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct ItemTable {
  std::vector<std::string> columns;  // names; unique, not empty
  std::vector<std::vector<Cell>> rows;

  bool empty() const { return columns.empty(); }
};

// What is wrong with it (a column without a name or with that of another, a row of another length);
// "": nothing.
std::string fault_of(const ItemTable& table);

// RFC 4180 with a line of names first and "\n" as the end of a line: texts with commas, quotes or
// line breaks in quotes. Numbers as short as they can be read back exactly; `nan`, `inf`, `-inf`;
// `true`, `false`. fault_of must be "".
std::string to_csv(const ItemTable& table);
// One line of it.
std::string csv_line(const std::vector<Cell>& cells);
// An array of objects, one a line, keys in the order of the columns. Numbers that are not finite
// are null; bytes that are no UTF-8 are replaced. fault_of must be "".
std::string to_json_text(const ItemTable& table);

}  // namespace lockstep
