// Reads a column of stamps (dates or times) in the forms that exchanges and their tools write.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/day.h"

namespace lockstep::gbdt {

// The meaning of a date like 01/04/2021.
enum class DateOrder {
  any,          // decided by a day above 12 in the column
  day_first,    // 1 April
  month_first,  // 4 January
};

// Reads stamps one by one. All stamps of a column must be of the same Kind. The forms of
// parse_stamp are read, and also:
//   - the dates 2021-1-4, 2021.01.04, 04-Jan-2021 and Jan 04, 2021;
//   - 04/01/2021, with /, - or . as the separator;
//   - 202101040930 and 20210104 093000;
//   - times of day like 9:15, 9:15:00 or 9:15 PM, and UTC or GMT as the zone;
//   - seconds, milliseconds, microseconds or nanoseconds since 1970, with 10, 13, 16 or 19 digits.
class StampColumn {
 public:
  enum class Kind { none, year_first, month_name, day_and_month, since_1970 };

  // count: the expected number of stamps.
  explicit StampColumn(DateOrder order, std::size_t count = 0) : order_(order) {
    stamps_.reserve(count);
  }

  // Adds a stamp. Returns false if the text is not a stamp, or if its Kind differs from the Kind of
  // the earlier stamps.
  bool add(std::string_view text);

  struct Decision {
    // day_first: the index of the first stamp that can be read only with the day first.
    // month_first: the index of the first stamp that can be read only with the month first. `none`:
    // there is no such stamp. Both are set only for Kind::day_and_month with DateOrder::any.
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t day_first = none, month_first = none;
    bool decided = true;
    std::string note;  // for users: how the column was read, if this is not obvious
  };
  // Decides the order of day and month, and fills in the days in `stamps` that depend on it. Call
  // it after the last stamp. Decision::decided is false if no stamp shows the order, or if two
  // stamps contradict each other.
  Decision decide();

  Kind kind() const { return kind_; }
  std::vector<Stamp>& stamps() { return stamps_; }

 private:
  struct Parts;
  bool take(const Parts& parts);

  DateOrder order_;
  Kind kind_ = Kind::none;
  std::size_t digits_ = 0;     // number of digits, for since_1970
  std::vector<Stamp> stamps_;  // day_and_month: decide() adds the days
  struct Pair {
    int first = 0, second = 0, year = 0;
  };
  std::vector<Pair> pairs_;  // day_and_month: one pair per stamp
};

// Returns the day, or nothing if it does not exist in the calendar.
std::optional<Day> calendar_day(int year, int month, int day);

}  // namespace lockstep::gbdt
