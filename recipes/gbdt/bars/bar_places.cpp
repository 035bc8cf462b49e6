#include "recipes/gbdt/bars/bar_places.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/number_cells.h"
#include "recipes/gbdt/bars/stamp_column.h"
#include "recipes/gbdt/bars/symbols.h"

namespace lockstep::gbdt {
namespace {

constexpr std::size_t no_column = BarPlaces::none;

bool is_wanted(BarColumns::Prices prices, std::size_t which) {
  return prices == BarColumns::Prices::all || (prices == BarColumns::Prices::close && which == 3);
}

// Finds the columns of a table.
class ColumnFinder {
 public:
  ColumnFinder(const CellTable& table, const BarColumns& wanted) : table_(table), wanted_(wanted) {
    for (const std::string& column : table.columns) names_.push_back(plain_name(column));
  }

  BarPlaces find_all() {
    find_time();
    find_prices();
    if (has_symbol_column(wanted_.symbol)) places_.symbol = table_.column(wanted_.symbol);
    find_own();
    if (takes_prices(wanted_)) {
      note_close();
      if (wanted_.symbol.empty()) refuse_several_symbols();
    }
    return std::move(places_);
  }

 private:
  std::size_t find(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const auto found = std::find(names_.begin(), names_.end(), name);
      if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
    }
    return no_column;
  }

  // Finds the column of the time, and possibly a separate column with the time of day.
  void find_time() {
    if (wanted_.time == "none") {
      if (takes_prices(wanted_))
        throw Error(cat(table_.raw->name, ": prices need their time, but time=none"),
                    "leave time=none out, or name the columns to learn from: features=… label=…");
      return;
    }
    if (!wanted_.time.empty()) {
      places_.stamp = table_.column(wanted_.time);
      return;
    }
    places_.stamp =
        find({"timestamp", "datetime", "date", "time", "opentime", "gmttime", "localtime"});
    if (places_.stamp != no_column && names_[places_.stamp] == "date")
      places_.clock = find({"time"});
    if (places_.stamp == no_column && first_column_is_index_of_times()) {
      places_.stamp = 0;
      places_.notes.emplace_back("the first column, which has no name, is taken as the time");
    }
  }

  // Whether the first column has no name and begins with a time. DataFrame.to_csv() writes an
  // unnamed index in this way.
  bool first_column_is_index_of_times() const {
    if (!is_unnamed(table_.columns[0]) || table_.rows() == 0) return false;
    StampColumn stamps(DateOrder::any);
    const std::string_view cell = table_.cell(0, 0);
    return cell.find_first_of("-/.") != cell.npos && stamps.add(cell);
  }

  void find_prices() {
    places_.prices = {find({"open"}), find({"high"}), find({"low"}),
                      find({"close", "adjclose", "adjustedclose", "closelast", "price"}),
                      find({"volume", "vol"})};
    std::vector<std::string> missing;
    if (places_.stamp == no_column && takes_prices(wanted_)) missing.emplace_back("timestamp");
    for (std::size_t i = 0; i < price_names.size(); ++i) {
      if (!is_wanted(wanted_.prices, i))
        places_.prices[i] = no_column;
      else if (places_.prices[i] == no_column && i != volume_place)
        missing.emplace_back(price_names[i]);
    }
    if (missing.empty()) return;
    throw Error(cat(table_.raw->name, ", line ", table_.raw->lines[0], ": no column ",
                    join(missing, ", "), " among ", join(named_columns(), ", ")),
                wanted_.prices == BarColumns::Prices::all
                    ? "a price file has the columns timestamp, open, high, low, close and volume; "
                      "features=* label=COLUMN learns from any other"
                    : "name the columns timestamp and close, or give label=COLUMN");
  }

  std::vector<std::string> named_columns() const {
    std::vector<std::string> named;
    for (const std::string& column : table_.columns)
      if (!is_unnamed(column)) named.push_back(printable(column));
    return named;
  }

  // Finds the columns that options name.
  void find_own() {
    const bool has_label = std::find(table_.columns.begin(), table_.columns.end(), wanted_.label) !=
                           table_.columns.end();
    if (!wanted_.label.empty() && (has_label || !wanted_.label_optional))
      places_.label = table_.column(wanted_.label);
    if (!wanted_.group.empty()) places_.group = table_.column(wanted_.group);
    if (wanted_.own == std::vector<std::string>{"*"}) return find_others();
    for (const std::string& name : wanted_.own) {
      places_.own.push_back(table_.column(name));
      if (places_.own.back() == places_.label)
        throw Error(cat("the column ", name, " is the label, and cannot be a feature too"));
    }
  }

  void find_others() {
    const std::size_t used[] = {places_.stamp, places_.clock, places_.label, places_.group,
                                places_.symbol};
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      if (std::find(std::begin(used), std::end(used), i) != std::end(used)) continue;
      if (is_unnamed(table_.columns[i]))
        places_.notes.push_back(cat("column ", i + 1, ", which has no name, is not used"));
      else
        places_.own.push_back(i);
    }
  }

  void note_close() {
    const std::size_t close = places_.prices[3], adjusted = find({"adjclose", "adjustedclose"});
    if (names_[close] != "close")
      places_.notes.push_back(cat(printable(table_.columns[close]), " is taken as the close"));
    else if (adjusted != no_column)
      places_.notes.push_back(cat(printable(table_.columns[adjusted]), " is not used, but ",
                                  printable(table_.columns[close])));
  }

  // Throws Error if rows belong to several symbols, because they would be read as one series.
  void refuse_several_symbols() const {
    const std::size_t column = find({"symbol", "ticker", "name", "tic"});
    if (column == no_column || column == places_.label || column == places_.stamp) return;
    std::set<std::string, std::less<>> symbols;
    std::string_view last;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      const std::string_view symbol = table_.cell(row, column);
      if (symbol == last || is_missing(symbol)) continue;
      last = symbol;
      if (!symbols.contains(symbol)) symbols.emplace(symbol);
    }
    if (symbols.size() < 2) return;
    const std::string& name = table_.columns[column];
    throw Error(cat(table_.raw->name, ": the rows are of ", symbols.size(), " symbols, ",
                    printable(*symbols.begin()), " to ", printable(*symbols.rbegin()),
                    ", as the column ", name, " says"),
                cat("symbol_column=", name,
                    " reads the rows of each symbol by themselves; "
                    "symbol_column=none takes all as those of one"));
  }

  const CellTable& table_;
  const BarColumns& wanted_;
  std::vector<std::string> names_;
  BarPlaces places_;
};

}  // namespace

BarPlaces find_places(const CellTable& table, const BarColumns& wanted) {
  return ColumnFinder(table, wanted).find_all();
}

}  // namespace lockstep::gbdt
