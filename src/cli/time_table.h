// How long one run takes on one GPU of several kinds, side by side.
#pragma once

#include "run/forecast.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

struct TimeRow {
  std::string device, precision;
  std::optional<Forecast> forecast;
  std::string why_not;  // where there is none
  std::string quota;    // of quota_text
};

// With a head, and below it what applies to all rows and what is not known or does not fit.
std::string time_table_text(const std::vector<TimeRow>& rows);
nlohmann::json to_json(const std::vector<TimeRow>& rows);

}  // namespace lockstep::cli
