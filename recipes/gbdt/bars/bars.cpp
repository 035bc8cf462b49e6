#include "recipes/gbdt/bars/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "media/csv_table.h"

namespace lockstep::gbdt {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

// "Adj Close*" and "adj_close" alike: letters alone, lower case.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      letters += static_cast<char>(c >= 'a' ? c : c - 'A' + 'a');
  return letters;
}

struct Columns {
  std::size_t stamp = none, clock = none;  // clock: a time of day beside a date
  std::array<std::size_t, 5> numbers{};    // open, high, low, close, volume; none: not read
  std::vector<std::size_t> own;
  std::size_t label = none;
  std::vector<std::string> notes;
};
constexpr std::array number_names = {"open", "high", "low", "close", "volume"};

bool is_wanted(BarColumns::Prices prices, std::size_t which) {
  return prices == BarColumns::Prices::all || (prices == BarColumns::Prices::close && which == 3);
}

// Those that were asked for by name.
void find_own(const CsvTable& table, const BarColumns& wanted, Columns& columns) {
  if (!wanted.label.empty()) columns.label = table.column(wanted.label);
  if (wanted.own == std::vector<std::string>{"*"}) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (i != columns.stamp && i != columns.clock && i != columns.label) columns.own.push_back(i);
    return;
  }
  for (const std::string& name : wanted.own) {
    columns.own.push_back(table.column(name));
    if (columns.own.back() == columns.label)
      throw Error(cat("the column ", name, " is the label, and cannot be a feature too"));
  }
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
  columns.stamp = find({"timestamp", "datetime", "date", "time"});
  if (columns.stamp != none && names[columns.stamp] == "date") columns.clock = find({"time"});
  columns.numbers = {find({"open"}), find({"high"}), find({"low"}),
                     find({"close", "adjclose", "adjustedclose"}), find({"volume", "vol"})};
  std::vector<std::string> missing;
  if (columns.stamp == none) missing.emplace_back("timestamp");
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
                    ? "a price file has the columns timestamp, open, high, low, close and volume"
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
  const std::string word = plain(cell);
  return cell.empty() || cell == "-" || word == "null" || word == "nan" || word == "na";
}

// Adds the rows of a table to the bars, one by one.
class Reader {
 public:
  Reader(const CsvTable& table, Bars& bars, const BarColumns& wanted)
      : table_(table), bars_(bars), columns_(find_columns(table, wanted)) {
    for (const std::size_t column : columns_.own) bars_.own_names.push_back(table.columns[column]);
  }

  void read_all() {
    reserve();
    for (std::size_t row = 0; row < table_.rows.size(); ++row) read(row);
    if (bars_.size() == 0)
      throw Error(cat(table_.name, " holds no bar below its line of names"),
                  "a price file has one bar a line");
    bars_.notes = columns_.notes;
    if (left_out_ > 0)
      bars_.notes.push_back(
          cat(left_out_, left_out_ == 1 ? " row without" : " rows without", " prices left out"));
    note_gaps();
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
    read_stamp(row);
    std::vector<double>* const prices[] = {&bars_.open, &bars_.high, &bars_.low, &bars_.close,
                                           &bars_.volume};
    for (std::size_t i = 0; i < 5; ++i)
      if (columns_.numbers[i] != none) prices[i]->push_back(number(row, i));
    for (const std::size_t column : columns_.own) bars_.own.push_back(own_number(row, column));
    if (columns_.label != none) bars_.labels.push_back(own_number(row, columns_.label));
  }

  double own_number(std::size_t row, std::size_t column) const {
    const std::string& cell = table_.rows[row][column];
    if (is_missing(cell)) return std::numeric_limits<double>::quiet_NaN();
    const auto value = to_number(cell);
    if (!value || !std::isfinite(*value))
      throw Error(cat(table_.place(row), ": ", table_.columns[column], " is '", printable(cell),
                      "', which is no number"));
    return *value;
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
                  "write 2022-01-31, 2022-01-31 09:15:00 or 2022-01-31T09:15:00+05:30");
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
    if (stamp.instant_s == last_.instant_s)
      throw Error(cat(table_.place(row), ": ", printable(text), " was in ", before, " already"),
                  "leave one bar for each point in time");
    if (stamp.instant_s < last_.instant_s)
      throw Error(cat(table_.place(row), ": ", printable(text), " comes after ",
                      bars_.stamps.back(), " of ", before),
                  "sort the file by time, the oldest bar first");
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
  const Columns columns_;
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
  Bars bars{.symbol = symbol};
  const CsvTable table = parse_csv(text, name);
  Reader(table, bars, columns).read_all();
  Hasher hasher;
  hasher.update(text);
  bars.hash = hasher.hex();
  return bars;
}

Bars read_bars(const std::filesystem::path& file, const std::string& symbol,
               const BarColumns& columns) {
  return parse_bars(read_file(file), file.filename().string(), symbol, columns);
}

std::filesystem::path find_symbol(const std::filesystem::path& path, const std::string& symbol) {
  if (std::filesystem::is_regular_file(path)) return path;
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
