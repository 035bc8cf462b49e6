#include "recipes/gbdt/bars/stamp_column.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <system_error>

namespace lockstep::gbdt {
namespace {

constexpr std::int64_t day_s = 86400;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Reads parts from the front of a text.
class StampText {
 public:
  explicit StampText(std::string_view text) : text_(text) {}

  bool empty() const { return text_.empty(); }
  bool take(char wanted) {
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  char take_any(std::string_view wanted) {
    if (text_.empty() || wanted.find(text_.front()) == wanted.npos) return '\0';
    const char taken = text_.front();
    text_.remove_prefix(1);
    return taken;
  }
  std::string_view take_digits() {
    return take_while([](char c) { return is_digit(c); });
  }
  std::string_view take_letters() {
    return take_while([](char c) { return is_letter(c); });
  }
  std::string_view rest() const { return text_; }
  void skip_blanks() {
    while (take(' ')) {
    }
  }

 private:
  template <class Wanted>
  std::string_view take_while(const Wanted& wanted) {
    std::size_t length = 0;
    while (length < text_.size() && wanted(text_[length])) ++length;
    const std::string_view taken = text_.substr(0, length);
    text_.remove_prefix(length);
    return taken;
  }

  std::string_view text_;
};

int number_of(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Returns 1 to 12 for "Jan", "JAN" or "January", and 0 for other words.
int month_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> months = {
      "january", "february", "march",     "april",   "may",      "june",
      "july",    "august",   "september", "october", "november", "december"};
  std::string word(name);
  for (char& c : word) c = static_cast<char>(c | 0x20);
  for (std::size_t i = 0; i < months.size(); ++i)
    if (word == months[i] || word == months[i].substr(0, 3)) return static_cast<int>(i) + 1;
  return 0;
}

struct Clock {
  std::int64_t time_s = 0;  // seconds since midnight, minus the zone's offset
  bool zone = false;
};

// Reads "9:15", "09:15:00.250 PM", or "093000" after a date without separators. A time zone may
// follow.
std::optional<Clock> take_clock(StampText& parts, bool compact) {
  const std::string_view digits = parts.take_digits();
  int hour = 0, minute = 0, second = 0;
  if (compact && (digits.size() == 4 || digits.size() == 6)) {
    hour = number_of(digits.substr(0, 2));
    minute = number_of(digits.substr(2, 2));
    if (digits.size() == 6) second = number_of(digits.substr(4));
  } else {
    if (digits.empty() || digits.size() > 2 || !parts.take(':')) return std::nullopt;
    hour = number_of(digits);
    const std::string_view minutes = parts.take_digits();
    if (minutes.size() != 2) return std::nullopt;
    minute = number_of(minutes);
    if (parts.take(':')) {
      const std::string_view seconds = parts.take_digits();
      if (seconds.size() != 2) return std::nullopt;
      second = number_of(seconds);
    }
  }
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  if (parts.take_any(".,") != '\0') parts.take_digits();
  parts.skip_blanks();
  Clock clock{.time_s = (hour * 60 + minute) * 60 + second};
  const std::string_view word = parts.take_letters();
  if (word == "AM" || word == "am" || word == "PM" || word == "pm") {
    if (hour < 1 || hour > 12) return std::nullopt;
    clock.time_s += ((word[0] | 0x20) == 'p' ? 12 : 0) * 3600 - (hour == 12 ? 12 * 3600 : 0);
  } else if (word == "UTC" || word == "GMT" || word == "Z" || word == "z") {
    clock.zone = true;
  } else if (!word.empty()) {
    return std::nullopt;
  } else if (!parts.empty()) {
    // parse_stamp reads the sign and the digits of a zone.
    const auto zoned = parse_stamp(std::string("1970-01-01 00:00") + std::string(parts.rest()));
    if (!zoned || !zoned->zone) return std::nullopt;
    clock.time_s += zoned->instant_s;
    clock.zone = true;
    return clock;
  }
  return parts.empty() ? std::optional(clock) : std::nullopt;
}

// Reads the time of day that may follow a date.
std::optional<Clock> take_end(StampText& parts, bool compact) {
  if (parts.empty()) return Clock{};
  if (!parts.take('T') && !parts.take(' ')) return std::nullopt;
  parts.skip_blanks();
  return take_clock(parts, compact);
}

}  // namespace

struct StampColumn::Parts {
  Kind kind = Kind::none;
  std::size_t digits = 0;
  Stamp stamp;
  Pair pair;
};

std::optional<Day> calendar_day(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < 1 || year > 9999) return std::nullopt;
  return static_cast<Day>(std::chrono::sys_days(date).time_since_epoch().count());
}

namespace {

Stamp stamp_of(Day day, const Clock& clock) {
  return {.day = day, .instant_s = day * day_s + clock.time_s, .zone = clock.zone};
}

// Reads 202101040930 and 20210104093000.
std::optional<Stamp> compact_stamp(std::string_view digits) {
  const auto day = calendar_day(number_of(digits.substr(0, 4)), number_of(digits.substr(4, 2)),
                                number_of(digits.substr(6, 2)));
  StampText clock_text(digits.substr(8));
  const auto clock = take_clock(clock_text, true);
  if (!day || !clock) return std::nullopt;
  return stamp_of(*day, *clock);
}

// Whether ten digits may be a day and an hour, such as 2021010409.
bool may_be_an_hour(std::string_view digits) {
  const int year = number_of(digits.substr(0, 4));
  return year >= 1900 && year < 2200 && number_of(digits.substr(8)) < 24 &&
         calendar_day(year, number_of(digits.substr(4, 2)), number_of(digits.substr(6, 2)));
}

std::optional<Stamp> since_1970(std::string_view digits) {
  std::int64_t count = 0, per_second = 1;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  // too large for 64 bits: nanoseconds after the year 2262
  if (read.ec != std::errc()) return std::nullopt;
  for (std::size_t i = 10; i < digits.size(); i += 3) per_second *= 1000;
  if (per_second == 1 && may_be_an_hour(digits)) return std::nullopt;
  const std::int64_t seconds = count / per_second;
  return Stamp{.day = static_cast<Day>(seconds / day_s), .instant_s = seconds, .zone = true};
}

}  // namespace

bool StampColumn::take(const Parts& parts) {
  if (kind_ == Kind::none) {
    kind_ = parts.kind;
    digits_ = parts.digits;
  }
  if (parts.kind != kind_ || parts.digits != digits_) return false;
  stamps_.push_back(parts.stamp);
  if (kind_ == Kind::day_and_month) pairs_.push_back(parts.pair);
  return true;
}

bool StampColumn::add(std::string_view text) {
  if (kind_ == Kind::none || kind_ == Kind::year_first)
    if (const auto stamp = parse_stamp(text)) return take({Kind::year_first, 0, *stamp, {}});
  StampText parts(text);
  const std::string_view first = parts.take_digits();
  if (parts.empty() && first.size() >= 10) {
    if (first.size() == 12 || first.size() == 14) {
      const auto stamp = compact_stamp(first);
      return stamp && take({Kind::year_first, 0, *stamp, {}});
    }
    if (first.size() != 10 && first.size() != 13 && first.size() != 16 && first.size() != 19)
      return false;
    const auto stamp = since_1970(first);
    return stamp && take({Kind::since_1970, first.size(), *stamp, {}});
  }
  if (first.size() == 8) {
    const auto day = calendar_day(number_of(first.substr(0, 4)), number_of(first.substr(4, 2)),
                                  number_of(first.substr(6)));
    const auto clock = take_end(parts, true);
    return day && clock && take({Kind::year_first, 0, stamp_of(*day, *clock), {}});
  }
  if (first.empty()) {  // such as Jan 04, 2021
    const int month = month_of(parts.take_letters());
    parts.take('.');
    parts.skip_blanks();
    const std::string_view day_digits = parts.take_digits();
    parts.take(',');
    parts.skip_blanks();
    const std::string_view year = parts.take_digits();
    const auto clock = take_end(parts, false);
    if (month == 0 || day_digits.empty() || day_digits.size() > 2 || year.size() != 4 || !clock)
      return false;
    const auto day = calendar_day(number_of(year), month, number_of(day_digits));
    return day && take({Kind::month_name, 0, stamp_of(*day, *clock), {}});
  }
  const char between = parts.take_any("-/. ");
  if (between == '\0') return false;
  const std::string_view name = parts.take_letters();
  if (!name.empty()) {  // such as 04-Jan-2021
    const int month = month_of(name);
    parts.take_any("-/. ,");
    parts.skip_blanks();
    const std::string_view year = parts.take_digits();
    const auto clock = take_end(parts, false);
    if (month == 0 || first.size() > 2 || year.size() != 4 || !clock) return false;
    const auto day = calendar_day(number_of(year), month, number_of(first));
    return day && take({Kind::month_name, 0, stamp_of(*day, *clock), {}});
  }
  const std::string_view second = parts.take_digits();
  if (second.empty() || second.size() > 2 || between == ' ' || !parts.take(between)) return false;
  const std::string_view third = parts.take_digits();
  const auto clock = take_end(parts, false);
  if (!clock) return false;
  if (first.size() == 4 && !third.empty() && third.size() <= 2) {  // such as 2021.1.4
    const auto day = calendar_day(number_of(first), number_of(second), number_of(third));
    return day && take({Kind::year_first, 0, stamp_of(*day, *clock), {}});
  }
  if (first.size() > 2 || third.size() != 4) return false;
  const Pair pair{number_of(first), number_of(second), number_of(third)};
  const bool day_first = order_ != DateOrder::month_first &&
                         calendar_day(pair.year, pair.second, pair.first).has_value();
  const bool month_first = order_ != DateOrder::day_first &&
                           calendar_day(pair.year, pair.first, pair.second).has_value();
  if (!day_first && !month_first) return false;
  return take({Kind::day_and_month, 0,
               Stamp{.day = 0, .instant_s = clock->time_s, .zone = clock->zone}, pair});
}

StampColumn::Decision StampColumn::decide() {
  Decision decision;
  if (kind_ == Kind::since_1970) {
    decision.note = digits_ == 10   ? "times are seconds since 1970, in UTC"
                    : digits_ == 13 ? "times are milliseconds since 1970, in UTC"
                    : digits_ == 16 ? "times are microseconds since 1970, in UTC"
                                    : "times are nanoseconds since 1970, in UTC";
    return decision;
  }
  if (kind_ != Kind::day_and_month) return decision;
  if (order_ == DateOrder::any) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i].first > 12 && decision.day_first == Decision::none) decision.day_first = i;
      if (pairs_[i].second > 12 && decision.month_first == Decision::none) decision.month_first = i;
    }
    decision.decided =
        (decision.day_first == Decision::none) != (decision.month_first == Decision::none);
    if (!decision.decided) return decision;
  }
  const bool day_first = order_ == DateOrder::day_first || decision.day_first != Decision::none;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    const Day day = calendar_day(pair.year, day_first ? pair.second : pair.first,
                                 day_first ? pair.first : pair.second)
                        .value_or(0);
    stamps_[i].day = day;
    stamps_[i].instant_s += day * day_s;
  }
  if (order_ == DateOrder::any)
    decision.note = day_first ? "dates have the day first, then the month"
                              : "dates have the month first, then the day";
  return decision;
}

}  // namespace lockstep::gbdt
