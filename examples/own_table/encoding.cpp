#include "encoding.h"

#include <lockstep/core/base/error.h>
#include <lockstep/core/base/text/text.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace lockstep;

namespace {

constexpr std::size_t most_words = 64;  // a column with more is no category but an id or a text

Encoding::Column learn_numbers(const std::string& name, const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  return {.name = name, .mean = mean, .deviation = deviation > 0 ? deviation : 1};
}

std::set<std::string> words_in(const CsvTable& table, const std::vector<std::size_t>& rows,
                               std::size_t column) {
  std::set<std::string> words;
  for (const std::size_t row : rows)
    if (!is_missing(table.rows[row][column])) words.insert(table.rows[row][column]);
  return words;
}

}  // namespace

bool is_missing(const std::string& cell) {
  static const std::set<std::string> words{"", "NA", "N/A", "nan", "NaN", "null", "?"};
  return words.contains(cell);
}

Encoding learn(const CsvTable& table, const std::vector<std::size_t>& rows,
               const std::string& target, const std::vector<std::string>& without) {
  Encoding encoding{.columns = {}, .target = target, .classes = {}};
  const std::set<std::string> classes = words_in(table, rows, table.column(target));
  encoding.classes.assign(classes.begin(), classes.end());
  if (classes.size() < 2)
    throw Error(cat(table.name, ": all rows have one ", target), "there is nothing to tell apart");
  std::set<std::string> left_out{target};
  for (const std::string& name : without) left_out.insert(table.columns[table.column(name)]);
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const std::string& name = table.columns[column];
    if (left_out.contains(name)) continue;
    const std::set<std::string> words = words_in(table, rows, column);
    const bool numbers = std::all_of(words.begin(), words.end(),
                                     [](const std::string& word) { return to_number(word); });
    if (numbers && !words.empty()) {
      std::vector<double> values;
      for (const std::size_t row : rows)
        if (!is_missing(table.rows[row][column])) values.push_back(*table.number(row, column));
      encoding.columns.push_back(learn_numbers(name, values));
    } else if (!words.empty() && words.size() <= most_words) {
      encoding.columns.push_back({.name = name, .words = {words.begin(), words.end()}});
    }
  }
  if (encoding.columns.empty())
    throw Error(cat(table.name, " has no column to predict ", target, " from"));
  return encoding;
}

std::size_t Encoding::features() const {
  std::size_t count = 0;
  for (const Column& column : columns) count += std::max<std::size_t>(column.words.size(), 1);
  return count;
}

std::vector<float> Encoding::encode(const std::vector<std::string>& cells) const {
  std::vector<float> values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    for (const std::string& word : column.words) values.push_back(cells[i] == word ? 1.0F : 0.0F);
    if (!column.words.empty()) continue;
    const auto number = is_missing(cells[i]) ? column.mean : to_number(cells[i]);
    if (!number || !std::isfinite(*number))
      throw Error(cat(column.name, " is '", printable(cells[i]), "', which is no number"));
    values.push_back(static_cast<float>((*number - column.mean) / column.deviation));
  }
  return values;
}

std::vector<std::string> Encoding::cells_of(const CsvTable& table, std::size_t row) const {
  std::vector<std::string> cells;
  for (const Column& column : columns) cells.push_back(table.rows[row][table.column(column.name)]);
  return cells;
}

std::int64_t Encoding::class_of(const CsvTable& table, std::size_t row) const {
  const std::string& word = table.rows[row][table.column(target)];
  if (is_missing(word)) return -1;
  const auto found = std::find(classes.begin(), classes.end(), word);
  if (found == classes.end())
    throw Error(cat(table.place(row), ": the model knows no ", target, " ", printable(word)),
                cat("it knows ", join(classes, ", ")));
  return found - classes.begin();
}

nlohmann::json to_json(const Encoding& encoding) {
  nlohmann::json columns = nlohmann::json::array();
  for (const Encoding::Column& column : encoding.columns)
    columns.push_back({{"name", column.name},
                       {"mean", column.mean},
                       {"deviation", column.deviation},
                       {"words", column.words}});
  return {{"target", encoding.target}, {"classes", encoding.classes}, {"columns", columns}};
}

Encoding encoding_from(const nlohmann::json& json) {
  Encoding encoding{.columns = {}, .target = json.at("target"), .classes = json.at("classes")};
  for (const nlohmann::json& column : json.at("columns"))
    encoding.columns.push_back({.name = column.at("name"),
                                .mean = column.at("mean"),
                                .deviation = column.at("deviation"),
                                .words = column.at("words")});
  return encoding;
}
