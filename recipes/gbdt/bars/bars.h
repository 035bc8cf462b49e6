// The bars of one symbol: from a CSV file, or made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/day.h"
#include "recipes/gbdt/bars/stamp_column.h"

namespace lockstep::gbdt {

// Columns of one length, in the order of time.
struct Bars {
  std::string symbol;
  std::vector<std::string> stamps;                     // as the file writes them
  std::vector<Day> days;                               // on the clock that wrote the stamps
  std::vector<double> open, high, low, close, volume;  // empty if they were not read
  bool has_volume = true;              // false: all of `volume` is 0, or the file has none
  std::vector<std::string> own_names;  // of columns that were asked for by name
  std::vector<double> own;             // [rows, own_names], NaN if missing
  // Values of the label's column, NaN if missing; for classes their place in `classes`. Empty
  // without such a column.
  std::vector<double> labels;
  std::vector<std::string> classes;      // of the label, in their order; empty: it is a number
  std::vector<std::int64_t> groups;      // of each row, 0, 0, 1, …; empty: there are none
  std::vector<std::string> group_names;  // as the file writes them
  // The file has no time: stamps are the numbers of its rows, from 1, and all days are one.
  bool timeless = false;
  // Notes for people that stop nothing: gaps, rows left out, columns not used.
  std::vector<std::string> notes;
  // Hash of the file, with the symbol if the file has several; or of how the bars were made: 32
  // hex digits.
  std::string hash;

  std::size_t size() const { return stamps.size(); }
};

enum class LabelKind { number, two_classes, classes };

// Which columns of a file are read.
struct BarColumns {
  enum class Prices { all, close, none } prices = Prices::all;
  std::vector<std::string> own;  // by name; "*": all but the time, the label and the group
  std::string label;             // by name; empty: none
  LabelKind label_kind = LabelKind::number;
  std::vector<std::string> classes{};  // those of a trained model: no other label may come
  bool label_optional = false;  // there may be no such column, and what is no label is missing
  std::string group{};          // by name; empty: none
  std::string time{};           // by name; empty: found by name; "none": not read
  // By name: only rows of the symbol are read. "none": there is no such column.
  std::string symbol{};
  DateOrder date_order = DateOrder::any;
};

// Columns are found by name, whatever the case, with spaces or underscores: timestamp, datetime,
// date or time (a date and a time column belong together), open_time, gmt_time or local_time; open,
// high, low, close (or else adj close, close/last or price), volume. Others are passed over. A
// first column without a name is the time if no other is and it holds dates. Other columns without
// a name, and pandas' "Unnamed: 0", are passed over, also by "*". Stamps are those of StampColumn.
// Rows with the newest first are turned over, with a note. Volume may be absent. Rows in which all
// prices are missing are left out with a note. If no prices are read, there may be no time; rows
// then stand in the order of the file. Cells of own columns are as pandas reads them: True and
// False, if a column has nothing else, are 1 and 0; inf stays. Classes (`two_classes`: 0 and 1, or
// any two) are in the order of their numbers, or, if some are no numbers, of their texts. Rows of a
// group stand together, and may be of one time. Throws Error, which names file and line: columns
// that are missing, what is no number, prices that are not above 0, a negative volume, times that
// cannot be read, come twice or go back, dates whose order of day and month the column does not
// tell, a mix of stamps with and without a zone, a group that comes again, too many classes, prices
// of several symbols without a column to tell them apart by, no row at all.
Bars read_bars(const std::filesystem::path& file, const std::string& symbol,
               const BarColumns& columns = {});
Bars parse_bars(std::string_view text, const std::string& name, const std::string& symbol,
                const BarColumns& columns = {});

}  // namespace lockstep::gbdt
