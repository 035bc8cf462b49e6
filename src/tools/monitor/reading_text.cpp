#include "tools/monitor/reading_text.h"

#include "core/base/text/text.h"

namespace lockstep {

std::string missing_text(const Reading& reading) {
  if (reading.state == ReadingState::measured) return "";
  return reading.state == ReadingState::unsupported ? "n/a" : "-";
}

std::string number_text(const Reading& reading, double scale, int digits) {
  if (reading.state != ReadingState::measured) return missing_text(reading);
  const double value = reading.value * scale;
  return digits == 0 ? whole_text(value) : fixed(value, digits);
}

std::string whole_text(double value) { return value > 0 && value < 0.5 ? "<1" : fixed(value, 0); }

std::string traffic_text(const Reading& reading) {
  if (reading.state != ReadingState::measured) return missing_text(reading);
  return format_bytes(reading.value) + "/s";
}

std::string limits_text(const Reading& reading) {
  if (reading.state != ReadingState::measured) return missing_text(reading);
  const std::string words = clock_limit_words(static_cast<unsigned long long>(reading.value));
  return words.empty() ? "no" : words;
}

std::string age_text(double seconds) {
  if (seconds < 100) return cat(fixed(seconds, 0), "s");
  if (seconds < 6000) return cat(fixed(seconds / 60, 0), "m");
  return seconds < 360000 ? cat(fixed(seconds / 3600, 0), "h")
                          : cat(fixed(seconds / 86400, 0), "d");
}

}  // namespace lockstep
