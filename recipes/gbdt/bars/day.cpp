#include "recipes/gbdt/bars/day.h"

#include <chrono>
#include <cstdio>

namespace lockstep::gbdt {
namespace {

// Reads parts of a time stamp from the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool empty() const { return text_.empty(); }
  bool take(char wanted) {
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Reads exactly `digits` digits.
  std::optional<int> number(std::size_t digits) {
    if (text_.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : text_.substr(0, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }
  void skip_digits() {
    while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') text_.remove_prefix(1);
  }

 private:
  std::string_view text_;
};

std::optional<Day> take_day(Scanner& scan) {
  const auto year = scan.number(4);
  if (!year) return std::nullopt;
  const char between = scan.take('-') ? '-' : scan.take('/') ? '/' : '\0';
  const auto month = scan.number(2);
  if (!month || (between != '\0' && !scan.take(between))) return std::nullopt;
  const auto day = scan.number(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return static_cast<Day>(std::chrono::sys_days(date).time_since_epoch().count());
}

// Reads a time and returns seconds since midnight.
std::optional<int> take_time(Scanner& scan) {
  const auto hour = scan.number(2);
  if (!hour || *hour > 23 || !scan.take(':')) return std::nullopt;
  const auto minute = scan.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  int second = 0;
  if (scan.take(':')) {
    const auto seconds = scan.number(2);
    if (!seconds || *seconds > 59) return std::nullopt;
    second = *seconds;
    if (scan.take('.') || scan.take(',')) scan.skip_digits();
  }
  return (*hour * 60 + *minute) * 60 + second;
}

// Reads a time zone and returns seconds east of UTC.
std::optional<int> take_zone(Scanner& scan) {
  if (scan.take('Z') || scan.take('z')) return 0;
  const int sign = scan.take('+') ? 1 : scan.take('-') ? -1 : 0;
  const auto hours = scan.number(2);
  if (sign == 0 || !hours || *hours > 14) return std::nullopt;
  int minutes = 0;
  if (!scan.empty()) {
    scan.take(':');
    const auto more = scan.number(2);
    if (!more || *more > 59) return std::nullopt;
    minutes = *more;
  }
  return sign * (*hours * 60 + minutes) * 60;
}

}  // namespace

std::optional<Day> parse_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-') return std::nullopt;
  Scanner scan(text);
  return take_day(scan);
}

std::string to_text(Day day) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text;
}

int weekday(Day day) { return ((day + 3) % 7 + 7) % 7; }

std::optional<Stamp> parse_stamp(std::string_view text) {
  Scanner scan(text);
  const auto day = take_day(scan);
  if (!day) return std::nullopt;
  Stamp stamp{.day = *day, .instant_s = std::int64_t{*day} * 86400};
  if (scan.empty()) return stamp;
  if (!scan.take('T') && !scan.take(' ')) return std::nullopt;
  const auto time = take_time(scan);
  if (!time) return std::nullopt;
  stamp.instant_s += *time;
  scan.take(' ');
  if (scan.empty()) return stamp;
  const auto zone = take_zone(scan);
  if (!zone || !scan.empty()) return std::nullopt;
  stamp.instant_s -= *zone;
  stamp.zone = true;
  return stamp;
}

}  // namespace lockstep::gbdt
