#include "recipes/gbdt/batch/predictions.h"

#include <algorithm>

#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "recipes/gbdt/train/artefacts.h"

namespace lockstep::gbdt {
namespace {

std::vector<std::string> all_columns(const std::vector<Predictions>& predictions) {
  std::vector<std::string> columns;
  for (const Predictions& one : predictions)
    for (const std::string& name : one.columns)
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  if (columns.empty()) columns = {"timestamp", "symbol", "window", "label", "probability"};
  return columns;
}

// The rows with all of these columns; missing columns get empty cells. If the columns are equal,
// lines are copied without parsing.
std::string lines_with(const std::vector<std::string>& columns, const Predictions& predictions,
                       const std::string& more) {
  std::string text;
  if (predictions.columns == columns) {
    for (const std::string& line : predictions.lines) text += line + more;
    return text;
  }
  const CsvTable table =
      parse_csv(header_line(predictions.columns) + join(predictions.lines, "\n") + "\n",
                predictions.window->label);
  for (const auto& row : table.rows) {
    std::vector<Cell> cells;
    for (const std::string& name : columns) {
      const auto found = std::find(predictions.columns.begin(), predictions.columns.end(), name);
      cells.push_back(
          found == predictions.columns.end()
              ? Cell{}
              : Cell{row[static_cast<std::size_t>(found - predictions.columns.begin())]});
    }
    std::string line = csv_line(cells);
    line.pop_back();
    text += line + more;
  }
  return text;
}

}  // namespace

std::vector<std::string> csv_lines(std::string_view text) {
  std::vector<std::string> lines;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (i < text.size() && (text[i] != '\n' || quoted)) continue;
    if (i > begin) lines.emplace_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return lines;
}

std::string all_predictions(const BatchRecords& records,
                            const std::vector<Predictions>& predictions) {
  const std::vector<std::string> columns = all_columns(predictions);
  std::vector<std::string> names = columns;
  names.insert(names.end(), records.keys.begin(), records.keys.end());
  std::string text = header_line(names);
  for (const Predictions& one : predictions) {
    const std::vector<Cell> cells = setting_cells(records, *one.window);
    text += lines_with(columns, one, cells.empty() ? "\n" : "," + csv_line(cells));
  }
  return text;
}

}  // namespace lockstep::gbdt
