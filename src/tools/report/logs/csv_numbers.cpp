#include "tools/report/logs/csv_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/report/logs/file_kinds.h"
#include "tools/report/logs/log_times.h"

namespace lockstep {
namespace {

char likely_separator(std::string_view names) {
  const std::string_view candidates = ",;\t|";
  return *std::max_element(candidates.begin(), candidates.end(), [&](char a, char b) {
    return std::count(names.begin(), names.end(), a) < std::count(names.begin(), names.end(), b);
  });
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_missing(std::string_view word) {
  static const std::set<std::string_view> words{"",     "NA",   "N/A",  "n/a",  "<NA>",
                                                "#N/A", "None", "none", "null", "NULL",
                                                "-",    "--",   "?",    "NaT"};
  return words.contains(word);
}

// The whole text as a number, with an optional sign.
std::optional<double> plain_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> number_with_comma(std::string_view text) {
  constexpr std::size_t longest = 40;
  char with_point[longest];
  if (text.size() > longest || text.find('.') != text.npos) return std::nullopt;
  std::replace_copy(text.begin(), text.end(), with_point, ',', '.');
  return plain_number({with_point, text.size()});  // a text with two commas is not a number
}

// Reads digits with at most one point, which covers nearly all cells. The result is exactly
// rounded, because up to 15 digits and their power of ten are exact. Returns the end of the number.
// Null if from_chars must read it.
const char* read_short_number(const char* at, const char* end, double& number) {
  constexpr double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  constexpr std::ptrdiff_t most_digits = 15;
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  const char* const begin = at;
  const char* point = nullptr;
  std::int64_t digits = 0;
  for (; at != end; ++at) {
    if (*at >= '0' && *at <= '9') {
      if (at - begin > most_digits) return nullptr;
      digits = 10 * digits + (*at - '0');
    } else if (*at == '.' && point == nullptr) {
      point = at;
    } else {
      break;
    }
  }
  const std::ptrdiff_t count = at - begin - (point != nullptr ? 1 : 0);
  if (count == 0 || count > most_digits || (at != end && (*at == 'e' || *at == 'E')))
    return nullptr;
  number = static_cast<double>(digits);
  if (point != nullptr) number /= powers[at - point - 1];
  if (negative) number = -number;
  return at;
}

struct BadCells {
  std::size_t count = 0, line = 0;
  std::string first;
};

class CsvScan {
 public:
  CsvScan(std::string_view text, const std::string& name) : name_(name) {
    while (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    at_ = text.data();
    end_ = at_ + text.size();
  }

  CsvNumbers read() {
    read_names();
    while (row()) {
    }
    for (std::size_t i = 0; i < bad_.size(); ++i) tell(i);
    return std::move(numbers_);
  }

 private:
  [[noreturn]] void fail_quotes() const {
    throw Error(cat(name_, ", line ", line_, ": quotes that do not fit"),
                "a cell with quotes begins and ends with one, and has those within it doubled");
  }

  bool is_line_end(const char* at) const { return at == end_ || *at == '\n' || *at == '\r'; }

  void skip_line_end() {
    if (at_ != end_ && *at_ == '\r') ++at_;
    if (at_ != end_ && *at_ == '\n') ++at_;
    ++line_;
  }

  void skip_empty_lines() {
    while (at_ != end_) {
      const char* rest = at_;
      while (rest != end_ && is_blank(*rest) && *rest != separator_) ++rest;
      if (!is_line_end(rest) || rest == end_) {
        if (rest == end_) at_ = end_;
        return;
      }
      at_ = rest;
      skip_line_end();
    }
  }

  // The cell at `at_`. Afterwards, `at_` is at the separator or the end of the line. The view is
  // valid until the next call.
  std::string_view cell() {
    const char* begin = at_;
    while (begin != end_ && is_blank(*begin) && *begin != separator_) ++begin;
    if (begin != end_ && *begin == '"') return quoted_cell(begin + 1);
    while (at_ != end_ && *at_ != separator_ && *at_ != '\n' && *at_ != '\r') ++at_;
    return trimmed({begin, static_cast<std::size_t>(std::max(at_, begin) - begin)});
  }

  std::string_view quoted_cell(const char* begin) {
    quoted_.clear();
    for (at_ = begin;; ++at_) {
      const auto* const quote =
          static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
      if (quote == nullptr) {
        open_quote_ = true;
        at_ = end_;
        return {};
      }
      quoted_.append(at_, quote);
      at_ = quote + 1;
      if (at_ == end_ || *at_ != '"') break;
      quoted_ += '"';
    }
    line_ += static_cast<std::size_t>(std::count(quoted_.begin(), quoted_.end(), '\n'));
    while (at_ != end_ && is_blank(*at_) && *at_ != separator_) ++at_;
    if (!is_line_end(at_) && *at_ != separator_) fail_quotes();
    return quoted_;
  }

  void read_names() {
    skip_empty_lines();
    const char* const begin = at_;
    const std::string_view rest{at_, static_cast<std::size_t>(end_ - at_)};
    separator_ = likely_separator(rest.substr(0, rest.find_first_of("\r\n")));
    std::set<std::string> seen;
    for (bool more = at_ != end_; more;) {
      std::string column(cell());
      if (open_quote_) fail_quotes();
      if (!column.empty() && !seen.insert(column).second)
        throw Error(cat(name_, ": two columns are named ", printable(column)));
      times_.push_back(is_time_column(column));
      numbers_.table.columns.push_back(
          {.name = printable(std::move(column)), .rows = {}, .values = {}});
      more = at_ != end_ && *at_ == separator_;
      if (more) ++at_;
    }
    names_ = {begin, static_cast<std::size_t>(at_ - begin)};
    if (numbers_.table.columns.empty()) throw Error(cat(name_, " holds no line of names"));
    skip_line_end();
    bad_.resize(numbers_.table.columns.size());
    numbers_.table.name = name_;
  }

  // Reads the next row. Returns false if there is none.
  bool row() {
    skip_empty_lines();
    if (at_ == end_) return false;
    const std::string_view rest{at_, static_cast<std::size_t>(end_ - at_)};
    if (rest.starts_with(names_) && is_line_end(at_ + names_.size())) {
      at_ += names_.size();
      skip_line_end();
      return true;
    }
    const std::size_t begins = line_, columns = numbers_.table.columns.size();
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
      if (count < columns)
        value(count);
      else
        cell();
      more = at_ != end_ && *at_ == separator_;
      if (more) ++at_;
    }
    if (open_quote_ || count != columns) {
      if (at_ == end_) {  // the last line is still being written
        drop_row();
        return false;
      }
      throw Error(cat(name_, ", line ", begins, " has ", count, " cells, but there are ", columns,
                      " columns"),
                  "a log is a table: each line has a cell for each name of the first line");
    }
    skip_line_end();
    if (++numbers_.table.rows == 1) make_room(rest.size());
    return true;
  }

  // Reserves memory for the expected number of rows, assuming that all are as long as the first.
  void make_room(std::size_t bytes) {
    const std::size_t row_bytes = bytes - static_cast<std::size_t>(end_ - at_);
    constexpr std::size_t most = 1 << 21;
    const std::size_t rows = std::min(most, bytes / std::max<std::size_t>(row_bytes, 1) * 5 / 4);
    for (ForeignColumn& column : numbers_.table.columns)
      if (!column.rows.empty()) {
        column.rows.reserve(rows);
        column.values.reserve(rows);
      }
  }

  void drop_row() {
    for (ForeignColumn& column : numbers_.table.columns)
      while (!column.rows.empty() && column.rows.back() == numbers_.table.rows) {
        column.rows.pop_back();
        column.values.pop_back();
      }
  }

  void value(std::size_t column) {
    ForeignColumn& to = numbers_.table.columns[column];
    double number = 0;
    const char* stop = read_short_number(at_, end_, number);
    if (stop == nullptr) {
      const auto [end, error] = std::from_chars(at_, end_, number);
      if (error == std::errc()) stop = end;
    }
    if (stop != nullptr && (is_line_end(stop) || *stop == separator_)) {
      at_ = stop;
      to.add(numbers_.table.rows, number);
      return;
    }
    if (is_line_end(at_) || *at_ == separator_) return;  // an empty cell
    const std::size_t line = line_;
    const std::string_view text = trimmed(cell());
    if (open_quote_ || is_missing(text)) return;
    std::optional<double> value = plain_number(text);
    if (!value && separator_ != ',') value = number_with_comma(text);
    if (!value && times_[column]) value = seconds_of_text(text);
    if (value)
      to.add(numbers_.table.rows, *value);
    else if (bad_[column].count++ == 0)
      bad_[column] = {.count = 1, .line = line, .first = std::string(text)};
  }

  void tell(std::size_t i) {
    const ForeignColumn& column = numbers_.table.columns[i];
    const BadCells& bad = bad_[i];
    if (bad.count == 0 || column.name.empty()) return;
    const char* const what = times_[i] ? "no time that can be read" : "no number";
    const std::string first = cat("'", printable(bad.first), "' in line ", bad.line);
    if (column.rows.empty())
      numbers_.refused.push_back(cat("column ", column.name, ": ", first, " is ", what));
    else
      numbers_.notes.push_back(cat("column ", column.name, ": ", bad.count,
                                   bad.count == 1 ? " cell is " : " cells are ", what, ", ",
                                   bad.count == 1 ? "" : "the first ", first));
  }

  const std::string& name_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  char separator_ = ',';
  std::string_view names_;  // the first line, with the names
  std::size_t line_ = 1;
  std::string quoted_;       // text of the last quoted cell
  bool open_quote_ = false;  // the file ends inside quotes
  std::vector<bool> times_;  // true for columns that contain times
  std::vector<BadCells> bad_;
  CsvNumbers numbers_;
};

}  // namespace

CsvNumbers read_csv_numbers(std::string_view text, const std::string& name) {
  constexpr std::size_t head_bytes = 4096;
  if (const auto other = no_log_as_text(text.substr(0, head_bytes), name))
    throw Error(cat(name, " is ", other->kind, ": looked for a CSV log"),
                other->remedy.empty()
                    ? "a CSV log has a line of names, and a line of numbers for each step or epoch"
                    : other->remedy);
  return CsvScan(text, name).read();
}

}  // namespace lockstep
