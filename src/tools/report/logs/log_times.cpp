#include "tools/report/logs/log_times.h"

#include <charconv>
#include <chrono>
#include <cmath>

namespace lockstep {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Consumes recognised parts from the front of a text.
class TimeText {
 public:
  explicit TimeText(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skip_blanks() {
    while (take(' ')) {
    }
  }
  // Reads a whole number with `least` to `most` digits.
  std::optional<int> digits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < rest_.size() && count < most && is_digit(rest_[count])) ++count;
    if (count < least) return std::nullopt;
    int value = 0;
    std::from_chars(rest_.data(), rest_.data() + count, value);
    rest_.remove_prefix(count);
    return value;
  }
  // Reads ".25" or ",25". Returns 0 if there is none.
  double fraction() {
    if (rest_.size() < 2 || (rest_[0] != '.' && rest_[0] != ',') || !is_digit(rest_[1])) return 0;
    rest_.remove_prefix(1);
    double value = 0;
    for (double unit = 0.1; !rest_.empty() && is_digit(rest_[0]); unit /= 10) {
      value += unit * (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view rest_;
};

// Reads H:MM or H:MM:SS.f. The hours of a duration may exceed 23.
std::optional<double> clock_time(TimeText& text, int most_hours, bool seconds_needed) {
  const std::optional<int> hours = text.digits(1, 6);
  if (!hours || *hours > most_hours || !text.take(':')) return std::nullopt;
  const std::optional<int> minutes = text.digits(2, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const double whole = 3600.0 * *hours + 60.0 * *minutes;
  if (!text.take(':')) return seconds_needed ? std::nullopt : std::optional(whole);
  const std::optional<int> seconds = text.digits(2, 2);
  if (!seconds || *seconds > 60) return std::nullopt;
  const double fraction = text.fraction();
  return whole + *seconds + fraction;
}

// The offset from UTC in seconds, positive to the east. An empty text means UTC. Nothing if the
// text is not a time zone.
std::optional<double> zone_offset(TimeText& text) {
  text.skip_blanks();
  if (text.at_end() || text.take('Z') || text.take("UTC") || text.take("GMT")) return 0;
  const bool west = text.take('-');
  if (!west && !text.take('+')) return std::nullopt;
  const std::optional<int> hours = text.digits(2, 2);
  if (!hours) return std::nullopt;
  text.take(':');
  const std::optional<int> minutes = text.at_end() ? std::optional(0) : text.digits(2, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return (west ? -1 : 1) * (3600.0 * *hours + 60.0 * *minutes);
}

// Days since 1970. The date has the year first with - or /, or the day first with points.
std::optional<double> days_of_date(TimeText& text) {
  std::optional<int> year, month, day;
  TimeText before = text;
  if ((year = text.digits(4, 4))) {
    const char mark = text.take('-') ? '-' : '/';
    if (mark == '/' && !text.take('/')) return std::nullopt;
    month = text.digits(1, 2);
    if (!month || !text.take(mark)) return std::nullopt;
    day = text.digits(1, 2);
  } else {
    text = before;
    day = text.digits(1, 2);
    if (!day || !text.take('.')) return std::nullopt;
    month = text.digits(1, 2);
    if (!month || !text.take('.')) return std::nullopt;
    year = text.digits(4, 4);
  }
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

constexpr double day_s = 86400;

std::optional<double> date_seconds(TimeText text) {
  const std::optional<double> days = days_of_date(text);
  if (!days) return std::nullopt;
  if (text.at_end()) return *days * day_s;
  if (!text.take('T') && !text.take('t')) {
    text.take(',');
    if (!text.take(' ')) return std::nullopt;
    text.skip_blanks();
  }
  const std::optional<double> time = clock_time(text, 23, false);
  if (!time) return std::nullopt;
  const std::optional<double> offset = zone_offset(text);
  if (!offset || !text.at_end()) return std::nullopt;
  return *days * day_s + *time - *offset;
}

std::optional<double> duration_seconds(TimeText text) {
  double days = 0;
  const TimeText before = text;
  if (const std::optional<int> count = text.digits(1, 6); count && text.take(' ')) {
    if (!text.take("days") && !text.take("day")) return std::nullopt;
    text.take(',');
    text.skip_blanks();
    days = *count;
  } else {
    text = before;
  }
  constexpr int most_hours = 999'999;
  const std::optional<double> time = clock_time(text, most_hours, true);
  if (!time || !text.at_end()) return std::nullopt;
  return days * day_s + *time;
}

}  // namespace

std::optional<double> seconds_of_text(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const std::optional<double> date = date_seconds(TimeText(text));
  return date ? date : duration_seconds(TimeText(text));
}

}  // namespace lockstep
