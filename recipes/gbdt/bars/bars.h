// The rows of one symbol or table, read from a CSV file or generated. Rows with prices are bars.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/gbdt/bars/day.h"
#include "recipes/gbdt/bars/stamp_column.h"

namespace lockstep::gbdt {

// All columns have the same length. Rows are in the order of time, or without a time in the order
// of the file.
struct Bars {
  std::string symbol;
  std::vector<std::string> stamps;                     // as the file writes them
  std::vector<Day> days;                               // days of the stamps, in their time zone
  std::vector<double> open, high, low, close, volume;  // each empty if not read
  bool has_volume = true;              // false if all of `volume` is 0, or the file has none
  std::vector<std::string> own_names;  // names of the columns in `own`
  std::vector<double> own;  // [rows, own_names]: columns requested by name; NaN if missing
  // Values of the label's column, NaN if missing. For classes, these are indexes into `classes`.
  // Empty if there is no such column.
  std::vector<double> labels;
  // classes of the label, in order; empty if the label is a number
  std::vector<std::string> classes;
  std::vector<std::int64_t> groups;      // of each row: 0, 0, 1, …; empty if there are no groups
  std::vector<std::string> group_names;  // as the file writes them
  // Whether the file has no time. Stamps are then the row numbers, from 1, and all days are 0.
  bool timeless = false;
  // Notes for users about harmless irregularities: gaps, rows left out, columns not used.
  std::vector<std::string> notes;
  // A hash of 32 hex digits. For a file, it is the file's hash, combined with the symbol if the
  // file has several symbols. For generated rows, it is a hash of how they are generated.
  std::string hash;

  std::size_t size() const { return stamps.size(); }
};

enum class LabelKind { number, two_classes, classes };

// The columns of a file that are read.
struct BarColumns {
  enum class Prices { all, close, none } prices = Prices::all;
  std::vector<std::string> own;  // by name; "*": all but time, label, group and symbol
  std::string label;             // by name; empty: there is none
  LabelKind label_kind = LabelKind::number;
  std::vector<std::string> classes{};  // classes of a trained model; other labels are an Error
  // whether the label's column may be absent; an invalid label is then a missing one
  bool label_optional = false;
  std::string group{};  // by name; empty: there is none
  std::string time{};   // by name; empty: see read_bars; "none": not read
  // The column with the symbol of each row, by name. Only rows of one symbol are read. "none": all
  // rows are of one symbol. Empty: as "none", but prices of several symbols are an Error.
  std::string symbol{};
  DateOrder date_order = DateOrder::any;
};

// Reads the rows of `symbol` from a CSV file. If prices are read, rows without any price are left
// out, with a note.
//
// Columns are found by name. Case, spaces and underscores are ignored:
//   - The time is timestamp, datetime, date, time, open_time, gmt_time or local_time. A column
//     "date" and a column "time" are read together. If there is none of these, a first column
//     without a name is the time if it holds dates.
//   - Prices are open, high, low and close. If there is no close, adj close, close/last or price is
//     used. volume may be absent.
//   - Other columns are read only if they are requested. "*" does not request columns without a
//     name, nor pandas' "Unnamed: 0".
//
// Stamps have the forms that StampColumn reads. If the newest row comes first, the order is
// reversed, with a note. If no prices are read, there may be no time. Rows then have the order of
// the file.
//
// Cells of the columns in `columns.own` are read as pandas reads them. If a column has only True
// and False, these become 1 and 0. inf stays infinite. Classes are ordered as numbers, or as texts
// if some are not numbers. With `two_classes`, the classes are 0 and 1, or any two. Rows of a group
// are contiguous, and may have the same time.
//
// Throws Error, which names file and line, for:
//   - a missing column, or no row;
//   - a value that is not a number, a price that is not above 0, or a negative volume;
//   - times that cannot be read, that are repeated, or that are not in order;
//   - dates for which no row shows whether the day or the month comes first;
//   - some stamps with a zone and some without;
//   - a group that occurs again after another one;
//   - too many classes;
//   - prices of several symbols, if `columns.symbol` is empty.
Bars read_bars(const std::filesystem::path& file, const std::string& symbol,
               const BarColumns& columns = {});
Bars parse_bars(std::string_view text, const std::string& name, const std::string& symbol,
                const BarColumns& columns = {});

}  // namespace lockstep::gbdt
