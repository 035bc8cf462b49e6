// The bars of one symbol, read from a CSV file or generated.
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
  std::vector<std::string> own_names;  // names of the columns that were requested by name
  std::vector<double> own;             // [rows, own_names], NaN if missing
  // Values of the label's column, NaN if missing. For classes, these are indexes into `classes`.
  // Empty if there is no such column.
  std::vector<double> labels;
  // classes of the label, in order; empty: the label is a number
  std::vector<std::string> classes;
  std::vector<std::int64_t> groups;      // of each row, 0, 0, 1, …; empty: there are none
  std::vector<std::string> group_names;  // as the file writes them
  // True: the file has no time. Stamps are then the row numbers, from 1, and all rows are of one
  // day.
  bool timeless = false;
  // Notes for people about harmless irregularities: gaps, rows left out, columns not used.
  std::vector<std::string> notes;
  // A hash of 32 hex digits: of the file, with the symbol if the file has several; for generated
  // bars, of how they are generated.
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
  std::vector<std::string> classes{};  // the classes of a trained model; no other label is accepted
  // the column may be absent; invalid labels count as missing
  bool label_optional = false;
  std::string group{};  // by name; empty: none
  std::string time{};   // by name; empty: found by name; "none": not read
  // By name: only rows of the symbol are read. "none": there is no such column.
  std::string symbol{};
  DateOrder date_order = DateOrder::any;
};

// Columns are found by name, ignoring case, with spaces or underscores: timestamp, datetime, date
// or time (a date and a time column belong together), open_time, gmt_time or local_time; open,
// high, low, close (or else adj close, close/last or price), volume. Others are ignored. A first
// column without a name is the time if no other column is and it holds dates. Other columns without
// a name, and pandas' "Unnamed: 0", are ignored, also by "*". Stamps are those of StampColumn. If
// the newest row comes first, the order is reversed, with a note. Volume may be absent. Rows in
// which all prices are missing are left out, with a note. If no prices are read, there may be no
// time; rows then have the order of the file. Cells of own columns are read as by pandas: if a
// column has only True and False, they are 1 and 0; inf stays. Classes (`two_classes`: 0 and 1, or
// any two) are ordered as numbers, or as texts if some are not numbers. Rows of a group are
// contiguous, and may have the same time. Throws Error, which names file and line, for: missing
// columns; a value that is not a number; prices that are not above 0; a negative volume; times that
// cannot be read, are repeated or go back; dates whose order of day and month the column does not
// show; a mix of stamps with and without a zone; a group that occurs again later; too many classes;
// prices of several symbols without a column that distinguishes them; and if there is no row.
Bars read_bars(const std::filesystem::path& file, const std::string& symbol,
               const BarColumns& columns = {});
Bars parse_bars(std::string_view text, const std::string& name, const std::string& symbol,
                const BarColumns& columns = {});

}  // namespace lockstep::gbdt
