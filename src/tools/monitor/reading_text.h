// Writes readings as text. A missing value is "n/a" if the GPU does not report the metric, and "-"
// if the sample lacks it. It is never 0.
#pragma once

#include <string>

#include "tools/monitor/gpu/metrics.h"

namespace lockstep {

std::string missing_text(const Reading& reading);  // "" for measured readings
std::string number_text(const Reading& reading, double scale = 1, int digits = 0);
// Returns the value as a whole number, "97". A value above zero that rounds to zero is "<1".
std::string whole_text(double value);
std::string traffic_text(const Reading& reading);  // "1.5 GiB/s"
// returns the text for a reading of clock_limits: "power", or "no" if nothing limits the clocks
std::string limits_text(const Reading& reading);
std::string age_text(double seconds);  // "42s", "3m", "5h", "2d"

}  // namespace lockstep
