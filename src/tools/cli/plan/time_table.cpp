#include "tools/cli/plan/time_table.h"

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "runtime/run/progress/time_left.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep::cli {
namespace {

std::string source_of(const Forecast& forecast) {
  const MeasuredTimes& from = forecast.from;
  return from.source == TimeSource::run     ? "run " + from.run
         : from.source == TimeSource::trial ? "trial"
                                            : "peaks";
}

std::vector<std::string> cells_for(const TimeRow& row) {
  if (!row.forecast)
    return {row.device, row.precision.empty() ? "-" : row.precision, "-", "-", "-", "-", "-"};
  const Forecast& forecast = *row.forecast;
  const PartTimes& parts = forecast.from.parts;
  return {row.device,
          row.precision,
          format_seconds(parts.step_s),
          forecast.epoch_s > 0 ? format_seconds(forecast.epoch_s) : "-",
          forecast.evaluations > 0 ? format_seconds(parts.evaluation_s) : "-",
          format_span(forecast.total_s),
          source_of(forecast)};
}

bool is_from_peaks(const TimeRow& row) {
  return row.forecast && row.forecast->from.source == TimeSource::peaks;
}

}  // namespace

std::string time_table_text(const std::vector<TimeRow>& rows) {
  std::vector<std::vector<std::string>> table = {
      {"DEVICE", "PRECISION", "STEP", "EPOCH", "EVALUATION", "WHOLE", "FROM"}};
  for (const TimeRow& row : rows) table.push_back(cells_for(row));
  std::string text;
  for (const std::vector<std::string>& line : table) {
    for (std::size_t column = 0; column < line.size(); ++column) {
      int width = 0;
      for (const auto& other : table) width = std::max(width, cells_of(other[column]));
      const bool last = column + 1 == line.size();
      text += last ? line[column] + "\n" : pad_cells(line[column], width) + "  ";
    }
  }
  if (std::any_of(rows.begin(), rows.end(), is_from_peaks))
    text += "From peaks: may be off by 3 times, and by more for small models.\n";
  for (const TimeRow& row : rows) {
    if (!row.why_not.empty()) text += cat(row.device, ": ", row.why_not, "\n");
    if (!row.quota.empty()) text += cat(row.device, ": ", row.quota, "\n");
  }
  return text;
}

nlohmann::json to_json(const std::vector<TimeRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const TimeRow& row : rows)
    list.push_back({{"device", row.device},
                    {"precision", row.precision},
                    {"forecast", row.forecast ? to_json(*row.forecast) : nlohmann::json()},
                    {"why_not", row.why_not},
                    {"quota", row.quota}});
  return list;
}

}  // namespace lockstep::cli
