#include "tools/report/logs/json_rows.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/text/text.h"
#include "tools/report/logs/log_times.h"

namespace lockstep {
namespace {

// Special numbers as Python's json module writes them, and as trackers convert them.
std::optional<double> special_number(const std::string& text) {
  if (text == "NaN") return NAN;
  if (text == "Infinity") return INFINITY;
  if (text == "-Infinity") return -INFINITY;
  return std::nullopt;
}

std::optional<double> number_in(const nlohmann::json& value, const std::string& column) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (const std::optional<double> number = special_number(text)) return number;
  return is_time_column(column) ? seconds_of_text(text) : std::nullopt;
}

}  // namespace

void JsonRows::add(const nlohmann::json& row) {
  ++table_.rows;
  add_members(row, "");
}

void JsonRows::add_members(const nlohmann::json& object, const std::string& before) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = before + key;
    if (value.is_object()) {
      if (key != "_wandb" && !value.contains("_type")) add_members(value, name + ".");
    } else if (const std::optional<double> number = number_in(value, name)) {
      add_number(name, *number);
    }
  }
}

void JsonRows::add_number(const std::string& name, double value) {
  const auto [place, is_new] = columns_.emplace(name, table_.columns.size());
  if (is_new) table_.columns.push_back({.name = printable(name), .rows = {}, .values = {}});
  table_.columns[place->second].add(table_.rows - 1, value);
}

ForeignTable JsonRows::take() && { return std::move(table_); }

}  // namespace lockstep
