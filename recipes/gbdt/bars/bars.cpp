#include "recipes/gbdt/bars/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/process/memory.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/bars/bar_places.h"
#include "recipes/gbdt/bars/label_column.h"
#include "recipes/gbdt/bars/number_cells.h"
#include "recipes/gbdt/bars/symbols.h"

namespace lockstep::gbdt {
namespace {

constexpr std::size_t none = BarPlaces::none;

// Converts the rows of a table to bars.
class Reader {
 public:
  Reader(const CellTable& table, Bars& bars, const BarColumns& wanted)
      : table_(table), bars_(bars), wanted_(wanted), places_(find_places(table, wanted)) {
    bars_.timeless = places_.stamp == none;
    for (const std::size_t column : places_.own) {
      check_utf8(table.columns[column], *table.raw, table.raw->lines[0]);
      bars_.own_names.push_back(table.columns[column]);
    }
  }

  void read_all() {
    choose_rows();
    bars_.notes = table_.notes;
    bars_.notes.insert(bars_.notes.end(), places_.notes.begin(), places_.notes.end());
    read_stamps();
    read_prices();
    read_own();
    if (places_.label != none) {
      read_labels();
      note_labels();
    }
    if (places_.group != none) read_groups();
    if (left_out_ > 0)
      bars_.notes.push_back(
          cat(left_out_, left_out_ == 1 ? " row without" : " rows without", " prices left out"));
    if (!bars_.timeless) note_gaps();
    if (bars_.size() == 1) bars_.notes.push_back("there is one bar alone");
  }

 private:
  void choose_rows() {
    const auto has_price = [&](std::size_t row) {
      for (std::size_t i = 0; i < volume_place; ++i)
        if (places_.prices[i] != none && !is_missing(table_.cell(row, places_.prices[i])))
          return true;
      return false;
    };
    rows_.reserve(table_.rows());
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (places_.symbol != none && !is_of_symbol(row)) continue;
      if (takes_prices(wanted_) && !has_price(row))
        ++left_out_;
      else
        rows_.push_back(row);
    }
    if (!rows_.empty()) return;
    if (places_.symbol != none && left_out_ == 0) refuse_symbol();
    throw Error(cat(table_.raw->name, " holds no bar below its line of names"),
                "a price file has one bar per line");
  }

  bool is_of_symbol(std::size_t row) const {
    const std::string_view symbol = table_.cell(row, places_.symbol);
    if (symbol.empty())
      throw Error(
          cat(table_.place(row), ": no ", table_.columns[places_.symbol], ", which is the symbol"),
          "every row of a file of several symbols names its own; take away a row of totals");
    return symbol == bars_.symbol;
  }

  [[noreturn]] void refuse_symbol() const {
    std::set<std::string> symbols;
    for (std::size_t row = 0; row < table_.rows(); ++row)
      symbols.emplace(table_.cell(row, places_.symbol));
    const std::string near = nearest(bars_.symbol, std::vector(symbols.begin(), symbols.end()));
    throw Error(
        cat(table_.raw->name, ": no row has ", table_.columns[places_.symbol], " ", bars_.symbol),
        near.empty() ? cat("it has ", symbols.size(), " symbols") : cat("is it ", near, "?"));
  }

  // The text of a row's time.
  std::string stamp_text(std::size_t row) const {
    std::string text(table_.cell(row, places_.stamp));
    if (places_.clock != none) text += cat(" ", table_.cell(row, places_.clock));
    return text;
  }

  void read_stamps() {
    reserve_in_large_pages(bars_.stamps, rows_.size());
    if (bars_.timeless) {
      for (const std::size_t row : rows_) bars_.stamps.push_back(cat(row + 1));
      bars_.days.assign(rows_.size(), 0);
      return;
    }
    StampColumn column(wanted_.date_order, rows_.size());
    for (const std::size_t row : rows_) {
      bars_.stamps.push_back(stamp_text(row));
      if (!column.add(bars_.stamps.back())) refuse_stamp(row, column.kind());
    }
    const StampColumn::Decision decision = column.decide();
    if (!decision.decided) refuse_order(decision);
    if (!decision.note.empty()) bars_.notes.push_back(decision.note);
    order_rows(column.stamps());
    bars_.days.reserve(rows_.size());
    for (const Stamp& stamp : column.stamps()) bars_.days.push_back(stamp.day);
  }

  [[noreturn]] void refuse_stamp(std::size_t row, StampColumn::Kind kind) const {
    const bool first = kind == StampColumn::Kind::none;
    throw Error(
        cat(table_.place(row), ": '", printable(bars_.stamps.back()), "' is no date or time",
            first ? "" : cat(" as those before it, such as '", printable(bars_.stamps[0]), "'")),
        cat("write 2022-01-31, 2022-01-31 09:15:00 or 2022-01-31T09:15:00+05:30", or_no_time()));
  }

  [[noreturn]] void refuse_order(const StampColumn::Decision& decision) const {
    constexpr auto unknown = StampColumn::Decision::none;
    const std::string& name = table_.columns[places_.stamp];
    if (decision.day_first == unknown)
      throw Error(cat(table_.place(rows_[0]), ": ", printable(bars_.stamps[0]),
                      " may have the day first or the month, and no other ", name,
                      " tells, as none has a number above 12 there"),
                  "date_order=dmy takes the day first, date_order=mdy the month");
    throw Error(cat(table_.place(rows_[decision.day_first]), ": ",
                    printable(bars_.stamps[decision.day_first]), " has the day first, but ",
                    printable(bars_.stamps[decision.month_first]), " of line ",
                    table_.line(rows_[decision.month_first]), " the month"),
                "write all dates alike, as 2022-01-31");
  }

  // A hint to ignore the time. Rows of prices get none, because they need their time.
  std::string or_no_time() const {
    return takes_prices(wanted_) ? "" : "; time=none takes the rows as they stand";
  }

  // Checks that times are in order. If the newest row comes first, the rows are reversed.
  void order_rows(std::vector<Stamp>& stamps) {
    const bool may_be_equal = places_.group != none;
    const auto goes_on = [&](std::size_t i, int sign) {
      const std::int64_t step = sign * (stamps[i].instant_s - stamps[i - 1].instant_s);
      return (may_be_equal ? step >= 0 : step > 0) && stamps[i].zone == stamps[0].zone;
    };
    const auto is_ordered = [&](int sign) {
      std::size_t i = 1;
      while (i < stamps.size() && goes_on(i, sign)) ++i;
      return i >= stamps.size();
    };
    if (is_ordered(1)) return;
    if (is_ordered(-1)) {
      std::reverse(stamps.begin(), stamps.end());
      std::reverse(rows_.begin(), rows_.end());
      std::reverse(bars_.stamps.begin(), bars_.stamps.end());
      bars_.notes.emplace_back("the newest row comes first: read from the last one on");
      return;
    }
    std::size_t i = 1;
    while (goes_on(i, 1)) ++i;
    refuse_time(i, stamps);
  }

  [[noreturn]] void refuse_time(std::size_t i, const std::vector<Stamp>& stamps) const {
    const std::string before = cat("line ", table_.line(rows_[i - 1]));
    const std::string what = cat(table_.place(rows_[i]), ": ", printable(bars_.stamps[i]));
    if (stamps[i].zone != stamps[0].zone)
      throw Error(cat(what, stamps[i].zone ? " has a" : " has no", " time zone, unlike ", before),
                  "write all stamps with a zone, or none");
    if (stamps[i].instant_s == stamps[i - 1].instant_s)
      throw Error(
          cat(what, " was in ", before, " already"),
          cat("leave one bar for each point in time",
              takes_prices(wanted_) ? "; symbol_column=COLUMN tells symbols apart" : or_no_time()));
    throw Error(cat(what, " comes after ", printable(bars_.stamps[i - 1]), " of ", before),
                cat("sort the file by time, the oldest bar first", or_no_time()));
  }

  void read_prices() {
    if (takes_prices(wanted_)) check_volume();
    std::vector<double>* const prices[] = {&bars_.open, &bars_.high, &bars_.low, &bars_.close,
                                           &bars_.volume};
    for (std::size_t i = 0; i < price_names.size(); ++i)
      if (places_.prices[i] != none) reserve_in_large_pages(*prices[i], rows_.size());
    for (const std::size_t row : rows_)
      for (std::size_t i = 0; i < price_names.size(); ++i)
        if (places_.prices[i] != none) prices[i]->push_back(number(row, i));
    if (wanted_.prices != BarColumns::Prices::all) return;
    if (places_.prices[volume_place] == none) bars_.volume.assign(rows_.size(), 0);
    bars_.has_volume = std::any_of(bars_.volume.begin(), bars_.volume.end(),
                                   [](double volume) { return volume > 0; });
  }

  // Removes the column of volumes if all its cells are empty.
  void check_volume() {
    std::size_t& column = places_.prices[volume_place];
    if (column != none && std::all_of(rows_.begin(), rows_.end(), [&](std::size_t row) {
          return is_missing(table_.cell(row, column));
        }))
      column = none;
  }

  double number(std::size_t row, std::size_t which) {
    const std::string_view cell = table_.cell(row, places_.prices[which]);
    const bool volume = which == volume_place;
    const auto parse = [&] { return volume ? volume_of(cell, style_) : price_of(cell, style_); };
    auto value = parse();
    const bool comma = cell.find(',') != cell.npos;
    if (!value && comma && !style_known_) {
      std::vector<std::size_t> columns;
      for (const std::size_t column : places_.prices)
        if (column != none) columns.push_back(column);
      style_ = price_style(table_, columns);
      style_known_ = true;
      value = parse();
    }
    if (!value)
      throw Error(cat(table_.place(row), ": ", price_names[which], " is '",
                      printable(std::string(cell)), "', which is no number"),
                  comma ? "write 1170.6: a comma is read between thousands alone, and where the "
                          "file shows it, as by 1,170.60"
                        : "");
    if (volume ? *value < 0 : *value <= 0)
      throw Error(cat(table_.place(row), ": ", price_names[which], " is ",
                      printable(std::string(cell)),
                      volume ? ", but cannot be negative" : ", but a price is above 0"));
    return *value;
  }

  void read_own() {
    std::vector<char> kinds(places_.own.size(), '\0');  // n = numbers, b = booleans
    bars_.own.reserve(rows_.size() * kinds.size());
    for (const std::size_t row : rows_)
      for (std::size_t i = 0; i < kinds.size(); ++i)
        bars_.own.push_back(own_number(row, places_.own[i], kinds[i]));
  }

  double own_number(std::size_t row, std::size_t column, char& kind) const {
    const std::string_view cell = table_.cell(row, column);
    if (is_missing(cell)) return std::numeric_limits<double>::quiet_NaN();
    auto value = float_of(cell);
    const auto boolean = value ? std::nullopt : boolean_of(cell);
    const char this_kind = boolean ? 'b' : 'n';
    if (boolean) value = *boolean ? 1 : 0;
    const bool is_label = column == places_.label;
    if (!value || std::isnan(*value) || (is_label && !std::isfinite(*value)))
      throw Error(cat(table_.place(row), ": ", table_.columns[column], " is '",
                      printable(std::string(cell)), "', which is no number"),
                  is_label ? "objective=multiclass takes any texts as classes"
                           : "features are numbers; leave the column out");
    if (kind == '\0') kind = this_kind;
    if (kind != this_kind)
      throw Error(
          cat(table_.place(row), ": ", table_.columns[column], " is ", printable(std::string(cell)),
              ", but ", kind == 'b' ? "True or False" : "a number", " in the rows before"),
          "write 1 and 0 in place of True and False");
    return *value;
  }

  void note_labels() {
    const auto missing = std::count_if(bars_.labels.begin(), bars_.labels.end(),
                                       [](double x) { return std::isnan(x); });
    if (missing > 0)
      bars_.notes.push_back(cat(missing, missing == 1 ? " row has" : " rows have", " no ",
                                table_.columns[places_.label], ", which is the label"));
  }

  // Whether the cell contains a label. If labels are optional, other text such as the placeholder ?
  // is treated as a missing label.
  bool is_label(std::size_t row) const {
    const std::string cell(table_.cell(row, places_.label));
    if (is_missing(cell)) return false;
    if (!wanted_.label_optional) return true;
    if (wanted_.label_kind != LabelKind::number) return is_class(cell, wanted_.classes);
    const auto value = float_of(cell);
    return value && std::isfinite(*value);
  }

  void read_labels() {
    if (wanted_.label_kind == LabelKind::number) {
      char kind = '\0';
      for (const std::size_t row : rows_)
        bars_.labels.push_back(is_label(row) ? own_number(row, places_.label, kind)
                                             : std::numeric_limits<double>::quiet_NaN());
      return;
    }
    LabelColumn column{.table = table_, .column = places_.label, .rows = rows_};
    for (const std::size_t row : rows_) column.missing.push_back(!is_label(row));
    bars_.classes =
        wanted_.classes.empty() ? classes_of(column, wanted_.label_kind) : wanted_.classes;
    bars_.labels = class_labels(column, bars_.classes);
  }

  void read_groups() {
    std::map<std::string, std::size_t> known;  // the first row of each group
    for (const std::size_t row : rows_) {
      const std::string cell(table_.cell(row, places_.group));
      if (is_missing(cell))
        throw Error(
            cat(table_.place(row), ": no ", table_.columns[places_.group], ", which is the group"),
            "each row of a ranking belongs to a group");
      if (bars_.group_names.empty() || bars_.group_names.back() != cell) {
        const auto [first, is_new] = known.emplace(cell, row);
        if (!is_new)
          throw Error(cat(table_.place(row), ": the group ", printable(cell), " began in line ",
                          table_.line(first->second), " and comes again after another"),
                      cat("sort the file by ", table_.columns[places_.group]));
        bars_.group_names.push_back(cell);
      }
      bars_.groups.push_back(static_cast<std::int64_t>(bars_.group_names.size()) - 1);
    }
  }

  // Notes gaps that are longer than weekends and holidays.
  void note_gaps() {
    const std::vector<Day>& days = bars_.days;
    int longest = 0, gaps = 0;
    std::size_t where = 0;
    for (std::size_t i = 1; i < days.size(); ++i) {
      const int apart = days[i] - days[i - 1];
      if (apart <= usual_pause_days) continue;
      ++gaps;
      if (apart > longest) {
        longest = apart;
        where = i;
      }
    }
    if (gaps > 0)
      bars_.notes.push_back(cat(gaps, gaps == 1 ? " gap" : " gaps", " of more than ",
                                usual_pause_days, " days; the longest, ", longest,
                                " days, ends at ", to_text(days[where])));
  }

  static constexpr int usual_pause_days = 7;
  const CellTable& table_;
  Bars& bars_;
  const BarColumns& wanted_;
  BarPlaces places_;
  std::vector<std::size_t> rows_;  // rows of the table that become bars
  std::size_t left_out_ = 0;
  PriceStyle style_;
  bool style_known_ = false;
};

Bars bars_of(const std::shared_ptr<const RawCells>& raw, const std::string& symbol,
             const BarColumns& columns) {
  Bars bars{.symbol = symbol, .classes = columns.classes};
  const CellTable table = name_columns(raw, symbol, takes_prices(columns));
  Reader(table, bars, columns).read_all();
  const bool is_of_many = has_symbol_column(columns.symbol) || tickers_of(*raw).size() > 1;
  bars.hash = is_of_many ? hash128_hex(cat(raw->hash, " ", symbol)) : raw->hash;
  return bars;
}

}  // namespace

Bars parse_bars(std::string_view text, const std::string& name, const std::string& symbol,
                const BarColumns& columns) {
  return bars_of(read_cells(std::string(text), name), symbol, columns);
}

Bars read_bars(const std::filesystem::path& file, const std::string& symbol,
               const BarColumns& columns) {
  return bars_of(cells_of_file(file, has_symbol_column(columns.symbol)), symbol, columns);
}

}  // namespace lockstep::gbdt
