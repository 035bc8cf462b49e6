// A table of forecasts for one run, on one GPU of each of several kinds.
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
  std::string why_not;    // if there is no forecast
  bool is_error = false;  // there is no plan either
  std::string quota;      // from quota_text
};

// The table has a header. Below it are notes on all rows, and values that are unknown or do not
// fit.
std::string time_table_text(const std::vector<TimeRow>& rows);
nlohmann::json to_json(const std::vector<TimeRow>& rows);

}  // namespace lockstep::cli
