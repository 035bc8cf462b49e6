#include "tools/report/pages/shown.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>

#include "core/base/text/text.h"

namespace lockstep {

std::string shown_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "unknown";
  constexpr double rounds_to_a_second = 0.9995, rounds_to_a_minute = 59.95;
  if (seconds < rounds_to_a_second) return cat(general(seconds * 1000, 3), " ms");
  if (seconds < rounds_to_a_minute) return cat(general(seconds, 3), " s");
  const auto whole = static_cast<std::int64_t>(std::min(std::round(seconds), 1e12));
  constexpr std::int64_t minute = 60, hour = 3600, day = 86400;
  if (whole < hour) return cat(whole / minute, "m", whole % minute, "s");
  if (whole < day) return cat(whole / hour, "h", whole % hour / minute, "m");
  return cat(whole / day, "d", whole % day / hour, "h");
}

std::string shown_time(double unix_s) {
  const auto time = static_cast<std::time_t>(std::clamp(unix_s, 0.0, 1e11));
  std::tm local = {};
  localtime_r(&time, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

std::string shown_count(double value) {
  constexpr double many = 10000;
  return std::fabs(value) < many ? general(value, 5) : format_count(value);
}

std::string shown_number(double value) {
  if (!std::isfinite(value)) return "not finite";
  constexpr double five_digits = 99999.5, too_long = 1e15;
  const double size = std::fabs(value);
  return size >= five_digits && size < too_long ? fixed(value, 0) : general(value, 5);
}

std::string shown_rate(double value) {
  constexpr double three_digits = 999.5, too_long = 1e15;
  return value >= three_digits && value < too_long ? fixed(value, 0) : general(value, 3);
}

}  // namespace lockstep
