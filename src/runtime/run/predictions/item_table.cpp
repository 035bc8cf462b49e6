#include "runtime/run/predictions/item_table.h"

#include "core/base/check.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

namespace lockstep {
namespace {

std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return {digits, end};
}

std::string csv_text(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> std::string {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::monostate>) return "";
        if constexpr (std::is_same_v<Value, bool>) return value ? "true" : "false";
        if constexpr (std::is_same_v<Value, std::int64_t>) return std::to_string(value);
        if constexpr (std::is_same_v<Value, double>) return shortest(value);
        if constexpr (std::is_same_v<Value, std::string>) return csv_cell(value);
      },
      cell);
}

nlohmann::ordered_json json_value(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> nlohmann::ordered_json {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::monostate>)
          return nullptr;
        else
          return value;
      },
      cell);
}

}  // namespace

std::string fault_of(const ItemTable& table) {
  std::set<std::string> names;
  for (const std::string& name : table.columns) {
    if (name.empty()) return "a column has no name";
    if (!names.insert(name).second) return cat("two columns are named ", name);
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (table.rows[i].size() != table.columns.size())
      return cat("row ", i, " has ", table.rows[i].size(), " cells, but there are ",
                 table.columns.size(), " columns");
  return "";
}

std::string csv_line(const std::vector<Cell>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + csv_text(cells[i]);
  // An empty line would be skipped by readers.
  if (line.empty() && !cells.empty()) line = "\"\"";
  return line + '\n';
}

std::string to_csv(const ItemTable& table) {
  LOCKSTEP_CHECK(fault_of(table).empty());
  std::string text = csv_line({table.columns.begin(), table.columns.end()});
  for (const std::vector<Cell>& row : table.rows) text += csv_line(row);
  return text;
}

std::string to_json_text(const ItemTable& table) {
  LOCKSTEP_CHECK(fault_of(table).empty());
  std::string text = "[";
  for (const std::vector<Cell>& row : table.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i]] = json_value(row[i]);
    text += text.size() > 1 ? ",\n" : "\n";
    text += object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  return text + "\n]\n";
}

}  // namespace lockstep
