// The rows of one symbol or table, read from a CSV file or generated. A bar is a row with the
// prices of one period of time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/day.h"
#include "recipes/gbdt/bars/stamp_column.h"

namespace lockstep::gbdt {

// All columns that are not empty have the same length. Rows are in the order of time. If they have
// no time, they are in the order of the file.
struct Bars {
  std::string symbol;
  std::vector<std::string> stamps;                     // dates or times, as the file writes them
  std::vector<Day> days;                               // the day of each stamp, in its time zone
  std::vector<double> open, high, low, close, volume;  // empty if not read
  bool has_volume = true;              // false if all of `volume` is 0, or the file has none
  std::vector<std::string> own_names;  // names of the columns in `own`
  std::vector<double> own;  // [rows, own_names]: columns requested by name; NaN: no value
  // Labels, read from the column of labels; NaN if missing. If labels are classes, these are
  // indexes into `classes`. Empty if no column of labels is read.
  std::vector<double> labels;
  // classes of the labels, in their order; empty if labels are numbers
  std::vector<std::string> classes;
  std::vector<std::int64_t> groups;  // group of each row: 0, 0, 1, …; empty if there are no groups
  std::vector<std::string> group_names;  // [groups], as the file writes them
  // Whether the file has no time. Stamps are then the row numbers, from 1, and all days are 0.
  bool timeless = false;
  // Notes for users about harmless irregularities: gaps, rows left out, columns not used.
  std::vector<std::string> notes;
  // A hash of 32 hex digits. For a file, it is the file's hash, combined with the symbol if the
  // file has several symbols. For generated rows, it depends on how they are generated.
  std::string hash;

  std::size_t size() const { return stamps.size(); }
};

enum class LabelKind { number, two_classes, classes };

// The columns of a file that are read.
struct BarColumns {
  enum class Prices { all, close, none } prices = Prices::all;
  // names of further columns; "*": all except those of time, label, group and symbol
  std::vector<std::string> own;
  std::string label;  // name of the labels' column; empty: no labels are read
  LabelKind label_kind = LabelKind::number;
  std::vector<std::string> classes{};  // if not empty, the only valid labels
  // whether the column of labels may be absent; an invalid label then counts as missing
  bool label_optional = false;
  std::string group{};  // name of the groups' column; empty: no groups are read
  // name of the column with the time; empty: see read_bars; "none": no time is read
  std::string time{};
  // The column with the symbol of each row, by name. Only rows of one symbol are read. "none": all
  // rows are of one symbol. Empty: as "none", but a file of prices with several symbols is an
  // Error.
  std::string symbol{};
  DateOrder date_order = DateOrder::any;
};

// Reads the rows of `symbol` from a CSV file. If prices are read, rows without any price are left
// out, and Bars::notes says so.
//
// Columns are found by name. Case, spaces and underscores are ignored:
//   - The time is timestamp, datetime, date, time, open_time, gmt_time or local_time. A column
//     "date" and a column "time" are read together. If the file has none of these, a first column
//     without a name is the time if it holds dates.
//   - Prices are open, high, low and close. If there is no close, adj close, close/last or price is
//     used. volume may be absent.
//   - Other columns are read only if they are requested. "*" does not request columns without a
//     name, nor pandas' "Unnamed: 0".
//
// Times have the forms that StampColumn reads. If the newest row comes first, the order is
// reversed, and Bars::notes says so. If no prices are read, the file may have no time. Rows are
// then in the order of the file.
//
// Cells of the columns in `columns.own` are read as pandas reads them. If a column has only True
// and False, these become 1 and 0. inf stays infinite. Classes are ordered as numbers, or as texts
// if some are not numbers. With LabelKind::two_classes, the classes are 0 and 1, or any two values.
// Rows of a group are contiguous, and may have the same time.
//
// Throws Error, which names file and line, for:
//   - a missing column, or no row;
//   - a value that is not a number, a price that is not above 0, or a negative volume;
//   - times that cannot be read, that are repeated, or that are not in order;
//   - dates for which no row shows whether the day or the month comes first;
//   - some times with a time zone and some without;
//   - a group that occurs again after another one;
//   - too many classes for the number of rows;
//   - prices of several symbols, if `columns.symbol` is empty.
Bars read_bars(const std::filesystem::path& file, const std::string& symbol,
               const BarColumns& columns = {});
Bars parse_bars(std::string_view text, const std::string& name, const std::string& symbol,
                const BarColumns& columns = {});

}  // namespace lockstep::gbdt
