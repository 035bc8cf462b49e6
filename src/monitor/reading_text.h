// Readings in words. What was not measured is never 0: "n/a" where the GPU does not tell, "-" where
// there is no sample.
#pragma once

#include <string>

#include "monitor/metrics.h"

namespace lockstep {

std::string missing_text(const Reading& reading);  // "" of what was measured
std::string number_text(const Reading& reading, double scale = 1, int digits = 0);
// "97"; "<1" for what is little but not nothing.
std::string whole_text(double value);
std::string traffic_text(const Reading& reading);  // "1.5 GiB/s"
std::string limits_text(const Reading& reading);   // of clock_limits: "power", or "no"
std::string age_text(double seconds);              // "42s", "3m", "5h", "2d"

}  // namespace lockstep
