// Readings in words. A missing value is never 0: it is "n/a" if the GPU does not report it, and "-"
// if there is no sample.
#pragma once

#include <string>

#include "tools/monitor/gpu/metrics.h"

namespace lockstep {

std::string missing_text(const Reading& reading);  // "" for measured readings
std::string number_text(const Reading& reading, double scale = 1, int digits = 0);
// "97"; "<1" for a small value above zero.
std::string whole_text(double value);
std::string traffic_text(const Reading& reading);  // "1.5 GiB/s"
std::string limits_text(const Reading& reading);   // of clock_limits: "power", or "no"
std::string age_text(double seconds);              // "42s", "3m", "5h", "2d"

}  // namespace lockstep
