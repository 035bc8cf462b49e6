#include "recipes/gbdt/bars/number_cells.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

bool are_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (!text.empty() && text.front() == '$') text.remove_prefix(1);
  return text;
}

// Whether the text has one to three digits and then groups of three digits: 1,234 or 1.234.567.
bool is_grouped(std::string_view text, char separator) {
  std::size_t end = text.find(separator);
  if (end == text.npos || end == 0 || end > 3 || !are_digits(text.substr(0, end))) return false;
  while (end != text.npos) {
    text.remove_prefix(end + 1);
    end = text.find(separator);
    if (text.substr(0, end).size() != 3 || !are_digits(text.substr(0, end))) return false;
  }
  return true;
}

struct Finding {
  bool commas = false, point_decimal = false, other_commas = false;
};
void look_at(std::string_view cell, Finding& finding) {
  cell = without_sign(cell);
  const std::size_t point = cell.find('.');
  const std::string_view whole = cell.substr(0, point);
  const std::size_t comma = cell.find(',');
  if (comma == cell.npos) {
    finding.point_decimal = finding.point_decimal || (point != cell.npos && !is_grouped(cell, '.'));
    return;
  }
  finding.commas = true;
  if (!is_grouped(whole, ',') || cell.find(',', whole.size()) != cell.npos)
    finding.other_commas = true;
  else if (point != cell.npos || std::count(whole.begin(), whole.end(), ',') > 1)
    finding.point_decimal = true;
}

std::optional<double> plain_number(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace

bool is_missing(std::string_view cell) {
  if (cell.empty()) return true;
  constexpr std::size_t longest = 9;  // enough for -1.#QNAN and #N/A N/A
  if (cell.size() > longest && (cell.front() != ' ' && cell.back() != ' ')) return false;
  if (cell.back() >= '0' && cell.back() <= '9') return false;
  const std::string word = trim(cell);
  if (word == "None") return true;
  std::string lower = word;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::array words = {"",         "-",      "null",    "nan",     "-nan",
                                "n/a",      "na",     "#n/a",    "<na>",    "#na",
                                "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"};
  return std::find(words.begin(), words.end(), lower) != words.end();
}

std::optional<double> float_of(std::string_view cell) {
  std::string_view text = without_blanks(cell);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (stop != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return value;
  if (error != std::errc::result_out_of_range) return std::nullopt;
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<bool> boolean_of(std::string_view cell) {
  const std::string_view word = without_blanks(cell);
  if (word == "True" || word == "TRUE" || word == "true") return true;
  if (word == "False" || word == "FALSE" || word == "false") return false;
  return std::nullopt;
}

PriceStyle price_style(const CellTable& table, const std::vector<std::size_t>& columns) {
  Finding finding;
  for (std::size_t row = 0; row < table.rows(); ++row)
    for (const std::size_t column : columns)
      look_at(without_blanks(table.cell(row, column)), finding);
  return {.grouped = finding.commas && finding.point_decimal && !finding.other_commas};
}

std::optional<double> price_of(std::string_view cell, const PriceStyle& style) {
  std::string_view text = without_blanks(cell);
  if (const auto value = plain_number(text)) return value;
  if (!text.empty() && text.front() == '$') text.remove_prefix(1);
  if (!style.grouped) return plain_number(text);
  std::string digits(text);
  std::erase(digits, ',');
  return plain_number(digits);
}

std::optional<double> volume_of(std::string_view cell, const PriceStyle& style) {
  const std::string_view text = without_blanks(cell);
  constexpr std::array<std::pair<char, double>, 4> units = {
      {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}}};
  if (!text.empty())
    for (const auto& [unit, factor] : units)
      if (text.back() == unit) {
        const auto value = price_of(text.substr(0, text.size() - 1), style);
        return value ? std::optional(*value * factor) : std::nullopt;
      }
  return price_of(text, style);
}

}  // namespace lockstep::gbdt
