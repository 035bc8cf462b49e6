// Reads a column of dates or times, as exchanges and their tools write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/day.h"

namespace lockstep::gbdt {

// The meaning of 01/04/2021.
enum class DateOrder {
  any,          // a day above 12 in the column decides
  day_first,    // 1 April
  month_first,  // 4 January
};

// Reads stamps one by one. In addition to those of parse_stamp, it reads 2021-1-4, 2021.01.04,
// 202101040930, 20210104 093000, 04-Jan-2021, Jan 04, 2021; 04/01/2021 with / - or . as separator;
// times of day like 9:15, 9:15:00 or 9:15 PM; UTC or GMT as the zone; and seconds, milliseconds,
// microseconds or nanoseconds since 1970, with 10, 13, 16 or 19 digits. All stamps of a column must
// be of one kind.
class StampColumn {
 public:
  enum class Kind { none, year_first, month_name, day_and_month, since_1970 };

  // count: about how many stamps will come.
  explicit StampColumn(DateOrder order, std::size_t count = 0) : order_(order) {
    stamps_.reserve(count);
  }

  // Returns false if the text is no stamp, or of another kind than those before it.
  bool add(std::string_view text);

  struct Decision {
    // For day_and_month without a given order: the indexes of stamps (in the order of `add`) that
    // can only be read with the day, or the month, first. none: there is no such stamp.
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t day_first = none, month_first = none;
    bool decided = true;
    std::string note;  // how the column was read, if that is not obvious
  };
  // Call it after the last stamp. Fills in those days of `stamps` that need the column's order.
  Decision decide();

  Kind kind() const { return kind_; }
  std::vector<Stamp>& stamps() { return stamps_; }

 private:
  struct Parts;
  bool take(const Parts& parts);

  DateOrder order_;
  Kind kind_ = Kind::none;
  std::size_t digits_ = 0;     // of since_1970
  std::vector<Stamp> stamps_;  // of day_and_month: instant_s is the time of day less the zone
  struct Pair {
    int first = 0, second = 0, year = 0;
  };
  std::vector<Pair> pairs_;  // of day_and_month, a pair per stamp
};

// The day, or nothing if it is not in the calendar.
std::optional<Day> calendar_day(int year, int month, int day);

}  // namespace lockstep::gbdt
