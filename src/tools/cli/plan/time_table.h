// Makes a table of forecasts for one run. Each row is for one GPU of a different kind.
#pragma once

#include "runtime/run/progress/forecast.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

struct TimeRow {
  std::string device, precision;
  std::optional<Forecast> forecast;
  std::string why_not;    // reason if there is no forecast
  bool is_error = false;  // whether `why_not` is an error, so that there is no plan either
  std::string quota;      // whether the run fits into its quota of time, as text from quota_text()
};

// Returns the table with a header. Below the table are notes about all rows, and about values that
// are unknown or do not fit.
std::string time_table_text(const std::vector<TimeRow>& rows);
nlohmann::json to_json(const std::vector<TimeRow>& rows);

}  // namespace lockstep::cli
