#include "recipes/gbdt/bars/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "media/csv_table.h"
#include "recipes/gbdt/bars/label_column.h"

namespace lockstep::gbdt {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// "Adj Close*" and "adj_close" alike, but not "close_5": letters and digits alone, lower case.
std::string plain(std::string_view name) {
  std::string kept;
  for (const char c : name)
    if (const char l = lower(c); (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9')) kept += l;
  return kept;
}

struct Columns {
  std::size_t stamp = none, clock = none;  // clock: a time of day beside a date
  std::array<std::size_t, 5> numbers{};    // open, high, low, close, volume; none: not read
  std::vector<std::size_t> own;
  std::size_t label = none, group = none;
  std::vector<std::string> notes;
};
constexpr std::array number_names = {"open", "high", "low", "close", "volume"};

bool is_wanted(BarColumns::Prices prices, std::size_t which) {
  return prices == BarColumns::Prices::all || (prices == BarColumns::Prices::close && which == 3);
}

// Those that were asked for by name.
void find_own(const CsvTable& table, const BarColumns& wanted, Columns& columns) {
  const bool has_label =
      std::find(table.columns.begin(), table.columns.end(), wanted.label) != table.columns.end();
  if (!wanted.label.empty() && (has_label || !wanted.label_optional))
    columns.label = table.column(wanted.label);
  if (!wanted.group.empty()) columns.group = table.column(wanted.group);
  if (wanted.own == std::vector<std::string>{"*"}) {
    const std::size_t others[] = {columns.stamp, columns.clock, columns.label, columns.group};
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (std::find(std::begin(others), std::end(others), i) == std::end(others))
        columns.own.push_back(i);
    return;
  }
  for (const std::string& name : wanted.own) {
    columns.own.push_back(table.column(name));
    if (columns.own.back() == columns.label)
      throw Error(cat("the column ", name, " is the label, and cannot be a feature too"));
  }
}

// The time, and a time of day beside it.
template <class Find>
void find_time(const CsvTable& table, const BarColumns& wanted, const Find& find,
               Columns& columns) {
  if (wanted.time == "none") return;
  if (!wanted.time.empty()) {
    columns.stamp = table.column(wanted.time);
    return;
  }
  columns.stamp = find({"timestamp", "datetime", "date", "time"});
  if (columns.stamp != none && plain(table.columns[columns.stamp]) == "date")
    columns.clock = find({"time"});
}

Columns find_columns(const CsvTable& table, const BarColumns& wanted) {
  std::vector<std::string> names;
  for (const std::string& column : table.columns) names.push_back(plain(column));
  const auto find = [&](std::initializer_list<const char*> wanted) {
    for (const char* name : wanted) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    }
    return none;
  };
  Columns columns;
  find_time(table, wanted, find, columns);
  columns.numbers = {find({"open"}), find({"high"}), find({"low"}),
                     find({"close", "adjclose", "adjustedclose"}), find({"volume", "vol"})};
  std::vector<std::string> missing;
  if (columns.stamp == none && wanted.prices != BarColumns::Prices::none)
    missing.emplace_back("timestamp");
  for (std::size_t i = 0; i < 5; ++i) {
    if (!is_wanted(wanted.prices, i))
      columns.numbers[i] = none;
    else if (columns.numbers[i] == none)
      missing.emplace_back(number_names[i]);
  }
  if (!missing.empty())
    throw Error(cat(table.name, ", line 1: no column ", join(missing, ", "), " among ",
                    join(table.columns, ", ")),
                wanted.prices == BarColumns::Prices::all
                    ? "a price file has the columns timestamp, open, high, low, close and volume; "
                      "features=* label=COLUMN learns from any other"
                    : "name the columns timestamp and close, or give label=COLUMN");
  find_own(table, wanted, columns);
  if (wanted.prices == BarColumns::Prices::none) return columns;
  const std::size_t adjusted = find({"adjclose", "adjustedclose"});
  if (names[columns.numbers[3]] != "close")
    columns.notes.push_back(cat(table.columns[adjusted], " is taken as the close"));
  else if (adjusted != none)
    columns.notes.push_back(
        cat(table.columns[adjusted], " is not used, but ", table.columns[columns.numbers[3]]));
  return columns;
}

bool is_missing(std::string_view cell) {
  std::string word = trim(cell);
  std::transform(word.begin(), word.end(), word.begin(), lower);
  constexpr std::array words = {"", "-", "null", "nan", "-nan", "n/a", "na", "#n/a", "<na>"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Adds the rows of a table to the bars, one by one.
class Reader {
 public:
  Reader(const CsvTable& table, Bars& bars, const BarColumns& wanted)
      : table_(table), bars_(bars), wanted_(wanted), columns_(find_columns(table, wanted)) {
    bars_.timeless = columns_.stamp == none;
    for (const std::size_t column : columns_.own) bars_.own_names.push_back(table.columns[column]);
  }

  void read_all() {
    reserve();
    for (std::size_t row = 0; row < table_.rows.size(); ++row) read(row);
    if (bars_.size() == 0)
      throw Error(cat(table_.name, " holds no bar below its line of names"),
                  "a price file has one bar a line");
    bars_.notes = columns_.notes;
    if (columns_.label != none) {
      read_labels();
      note_labels();
    }
    if (columns_.group != none) read_groups();
    if (left_out_ > 0)
      bars_.notes.push_back(
          cat(left_out_, left_out_ == 1 ? " row without" : " rows without", " prices left out"));
    if (!bars_.timeless) note_gaps();
    if (bars_.size() == 1) bars_.notes.push_back("there is one bar alone");
  }

 private:
  void reserve() {
    const std::size_t rows = table_.rows.size();
    bars_.stamps.reserve(rows);
    bars_.days.reserve(rows);
    for (auto* column : {&bars_.open, &bars_.high, &bars_.low, &bars_.close, &bars_.volume})
      column->reserve(rows);
  }

  void read(std::size_t row) {
    const auto& cells = table_.rows[row];
    const auto gone = [&](std::size_t column) {
      return column == none || is_missing(cells[column]);
    };
    const bool has_prices = columns_.numbers[3] != none;
    if (has_prices && std::all_of(columns_.numbers.begin(), columns_.numbers.end() - 1, gone)) {
      ++left_out_;
      return;
    }
    rows_.push_back(row);
    if (bars_.timeless) {
      bars_.stamps.push_back(cat(row + 1));
      bars_.days.push_back(0);
    } else {
      read_stamp(row);
    }
    std::vector<double>* const prices[] = {&bars_.open, &bars_.high, &bars_.low, &bars_.close,
                                           &bars_.volume};
    for (std::size_t i = 0; i < 5; ++i)
      if (columns_.numbers[i] != none) prices[i]->push_back(number(row, i));
    for (const std::size_t column : columns_.own) bars_.own.push_back(own_number(row, column));
  }

  double own_number(std::size_t row, std::size_t column) const {
    const std::string& cell = table_.rows[row][column];
    if (is_missing(cell)) return std::numeric_limits<double>::quiet_NaN();
    const auto value = to_number(cell);
    if (!value || !std::isfinite(*value))
      throw Error(cat(table_.place(row), ": ", table_.columns[column], " is '", printable(cell),
                      "', which is no number"),
                  column == columns_.label ? "objective=multiclass takes any texts as classes"
                                           : "features are numbers; leave the column out");
    return *value;
  }

  void note_labels() {
    const auto missing = std::count_if(bars_.labels.begin(), bars_.labels.end(),
                                       [](double x) { return std::isnan(x); });
    if (missing > 0)
      bars_.notes.push_back(cat(missing, missing == 1 ? " row has" : " rows have", " no ",
                                table_.columns[columns_.label], ", which is the label"));
  }

  // Where labels are not needed, what cannot be one is none: a placeholder such as ?.
  bool is_label(std::size_t row) const {
    const std::string& cell = table_.rows[row][columns_.label];
    if (is_missing(cell)) return false;
    if (!wanted_.label_optional) return true;
    if (wanted_.label_kind != LabelKind::number) return is_class(cell, wanted_.classes);
    const auto value = to_number(cell);
    return value && std::isfinite(*value);
  }

  void read_labels() {
    if (wanted_.label_kind == LabelKind::number) {
      for (const std::size_t row : rows_)
        bars_.labels.push_back(is_label(row) ? own_number(row, columns_.label)
                                             : std::numeric_limits<double>::quiet_NaN());
      return;
    }
    LabelColumn column{.table = table_, .column = columns_.label, .rows = rows_};
    for (const std::size_t row : rows_) column.missing.push_back(!is_label(row));
    bars_.classes =
        wanted_.classes.empty() ? classes_of(column, wanted_.label_kind) : wanted_.classes;
    bars_.labels = class_labels(column, bars_.classes);
  }

  void read_groups() {
    std::map<std::string, std::size_t> known;  // where each one began
    for (const std::size_t row : rows_) {
      const std::string& cell = table_.rows[row][columns_.group];
      if (is_missing(cell))
        throw Error(
            cat(table_.place(row), ": no ", table_.columns[columns_.group], ", which is the group"),
            "each row of a ranking belongs to a group");
      if (bars_.group_names.empty() || bars_.group_names.back() != cell) {
        const auto [first, is_new] = known.emplace(cell, row);
        if (!is_new)
          throw Error(cat(table_.place(row), ": the group ", printable(cell), " began in line ",
                          table_.lines[first->second], " and comes again after another"),
                      cat("sort the file by ", table_.columns[columns_.group]));
        bars_.group_names.push_back(cell);
      }
      bars_.groups.push_back(static_cast<std::int64_t>(bars_.group_names.size()) - 1);
    }
  }

  double number(std::size_t row, std::size_t which) const {
    const std::string& cell = table_.rows[row][columns_.numbers[which]];
    const auto value = to_number(cell);
    const bool volume = which == 4;
    if (!value || !std::isfinite(*value))
      throw Error(cat(table_.place(row), ": ", number_names[which], " is '", printable(cell),
                      "', which is no number"));
    if (volume ? *value < 0 : *value <= 0)
      throw Error(cat(table_.place(row), ": ", number_names[which], " is ", printable(cell),
                      volume ? ", but cannot be negative" : ", but a price is above 0"));
    return *value;
  }

  void read_stamp(std::size_t row) {
    std::string text = table_.rows[row][columns_.stamp];
    if (columns_.clock != none) text += " " + table_.rows[row][columns_.clock];
    const auto stamp = parse_stamp(text);
    if (!stamp)
      throw Error(cat(table_.place(row), ": '", printable(text), "' is no date or time"),
                  "write 2022-01-31, 2022-01-31 09:15:00 or 2022-01-31T09:15:00+05:30; time=none "
                  "takes the rows as they stand");
    if (last_row_ != none) check_order(row, text, *stamp);
    last_ = *stamp;
    last_row_ = row;
    bars_.stamps.push_back(std::move(text));
    bars_.days.push_back(stamp->day);
  }

  void check_order(std::size_t row, const std::string& text, const Stamp& stamp) const {
    const std::string before = cat("line ", table_.lines[last_row_]);
    if (stamp.zone != last_.zone)
      throw Error(cat(table_.place(row), ": ", printable(text), stamp.zone ? " has a" : " has no",
                      " time zone, unlike ", before),
                  "write all stamps with a zone, or none");
    if (stamp.instant_s == last_.instant_s && columns_.group != none) return;
    if (stamp.instant_s == last_.instant_s)
      throw Error(cat(table_.place(row), ": ", printable(text), " was in ", before, " already"),
                  "leave one bar for each point in time; time=none takes the rows as they stand");
    if (stamp.instant_s < last_.instant_s)
      throw Error(cat(table_.place(row), ": ", printable(text), " comes after ",
                      bars_.stamps.back(), " of ", before),
                  "sort the file by time, the oldest bar first; time=none takes the rows as they "
                  "stand");
  }

  // Daily bars pause for weekends and holidays; what is far longer than usual is told.
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
  const CsvTable& table_;
  Bars& bars_;
  const BarColumns& wanted_;
  const Columns columns_;
  std::vector<std::size_t> rows_;  // of the table, that became bars
  std::size_t last_row_ = none;
  Stamp last_;
  std::size_t left_out_ = 0;
};

bool is_csv(const std::filesystem::path& path) {
  return plain(path.extension().string()) == "csv" && !path.stem().empty();
}

}  // namespace

Bars parse_bars(std::string_view text, const std::string& name, const std::string& symbol,
                const BarColumns& columns) {
  Bars bars{.symbol = symbol, .classes = columns.classes};
  const CsvTable table = parse_csv(text, name);
  Reader(table, bars, columns).read_all();
  Hasher hasher;
  hasher.update(text);
  bars.hash = hasher.hex();
  return bars;
}

Bars read_bars(const std::filesystem::path& file, const std::string& symbol,
               const BarColumns& columns) {
  return parse_bars(read_file(file, data_bytes), file.filename().string(), symbol, columns);
}

std::filesystem::path find_symbol(const std::filesystem::path& path, const std::string& symbol) {
  if (std::filesystem::is_regular_file(path)) return path;
  const std::filesystem::path usual = path / (symbol + ".csv");
  if (symbol.find('/') == symbol.npos && std::filesystem::is_regular_file(usual)) return usual;
  const std::vector<std::string> all = list_symbols(path);
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (is_csv(entry.path()) && entry.path().stem() == symbol) return entry.path();
  const std::string near = nearest(symbol, all);
  throw Error(cat("there is no file of the symbol ", symbol, " in ", path.string()),
              near.empty()
                  ? cat("it has ", all.size(), " symbols, ", all.front(), " to ", all.back())
                  : cat("is it ", near, "?"));
}

std::vector<std::string> list_symbols(const std::filesystem::path& path) {
  if (std::filesystem::is_regular_file(path)) return {path.stem().string()};
  std::vector<std::string> symbols;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed))
    if (is_csv(entry.path())) symbols.push_back(entry.path().stem().string());
  if (failed)
    throw Error(cat(path.string(), ": ", failed.message()),
                "data.path is a folder with a file SYMBOL.csv for each symbol, or one such file");
  if (symbols.empty())
    throw Error(cat(path.string(), " holds no CSV file"),
                "a folder of prices has a file SYMBOL.csv for each symbol");
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}

}  // namespace lockstep::gbdt
