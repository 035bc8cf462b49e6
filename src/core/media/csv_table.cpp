#include "core/media/csv_table.h"

#include <csv.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/error.h"
#include "core/base/files/file_kind.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// Collects cells. libcsv calls it from C, so nothing here may throw.
class Collector {
 public:
  Collector(CsvTable& table, const ReadCsv& how)
      : table_(table), most_rows_(how.most_rows), names_(how.names), line_(how.first_line) {}

  static void cell(void* text, std::size_t bytes, void* self) {
    static_cast<Collector*>(self)->add_cell({static_cast<const char*>(text), bytes});
  }
  static void row(int end, void* self) { static_cast<Collector*>(self)->end_row(end); }

  std::int64_t line() const { return line_; }
  const std::string& fault() const { return fault_; }

 private:
  void add_cell(std::string_view text) {
    inner_lines_ += std::count(text.begin(), text.end(), '\n');
    cells_.emplace_back(text);
    after_return_ = false;
  }

  void end_row(int end) {
    if (end == '\n' && after_return_) {  // the second half of "\r\n"
      after_return_ = false;
      return;
    }
    if (!cells_.empty()) keep_row();
    cells_.clear();
    line_ += inner_lines_ + 1;
    inner_lines_ = 0;
    after_return_ = end == '\r';
  }

  void keep_row() {
    if (table_.columns.empty()) {
      if (names_) {
        table_.columns = cells_;
        return;
      }
      for (std::size_t i = 1; i <= cells_.size(); ++i) table_.columns.push_back(cat(i));
    }
    if (table_.rows.size() >= most_rows_) {
      if (fault_.empty()) fault_ = cat("there are more than ", most_rows_, " rows");
    } else if (cells_.size() == table_.columns.size()) {
      table_.rows.push_back(cells_);
      table_.lines.push_back(line_);
    } else if (fault_.empty()) {
      fault_ = cat("line ", line_, " has ", cells_.size(), " cells, but there are ",
                   table_.columns.size(), " columns");
    }
  }

  CsvTable& table_;
  std::size_t most_rows_;
  bool names_;
  std::vector<std::string> cells_;
  std::int64_t line_, inner_lines_ = 0;
  bool after_return_ = false;
  std::string fault_;
};

struct Parser : csv_parser {
  explicit Parser(char separator) : csv_parser() {
    csv_init(this, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL);
    csv_set_delim(this, static_cast<unsigned char>(separator));
  }
  ~Parser() { csv_free(this); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
};

void check_columns(const CsvTable& table) {
  if (table.columns.empty()) throw Error(cat(table.name, " holds no line of names"));
  std::set<std::string> names;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& column = table.columns[i];
    if (column.empty()) throw Error(cat(table.name, ": column ", i + 1, " has no name"));
    if (!names.insert(column).second)
      throw Error(cat(table.name, ": two columns are named ", column));
  }
}

}  // namespace

char likely_separator(std::string_view line) {
  const std::string_view candidates = ",;\t|";
  return *std::max_element(candidates.begin(), candidates.end(), [&](char a, char b) {
    return std::count(line.begin(), line.end(), a) < std::count(line.begin(), line.end(), b);
  });
}

std::size_t CsvTable::column(const std::string& wanted) const {
  const auto found = std::find(columns.begin(), columns.end(), wanted);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  const std::string near = nearest(wanted, columns);
  throw Error(cat(name, " has no column ", wanted),
              near.empty()
                  ? cat("its columns are ", join(columns, ", "))
                  : cat("the nearest of its columns is ", near, "; all: ", join(columns, ", ")));
}

std::optional<double> CsvTable::number(std::size_t row, std::size_t column) const {
  const std::string& cell = rows.at(row).at(column);
  if (cell.empty()) return std::nullopt;
  const auto value = to_number(cell);
  if (!value)
    throw Error(cat(place(row), ": ", columns.at(column), " is '", printable(cell),
                    "', which is no number"));
  return value;
}

std::string CsvTable::place(std::size_t row) const { return cat(name, ", line ", lines.at(row)); }

CsvTable read_csv(const std::filesystem::path& path, const ReadCsv& how) {
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  if (!failed && bytes > how.file_bytes)
    throw Error(cat(path.string(), " has ", format_bytes(static_cast<double>(bytes)),
                    ", more than the limit of ",
                    format_bytes(static_cast<double>(how.file_bytes))));
  const std::string text = read_file(path, how.file_bytes), name = path.filename().string();
  refuse_no_csv(text, name);
  return parse_csv(text, name, how);
}

CsvTable parse_csv(std::string_view text, const std::string& name, const ReadCsv& how) {
  text = without_byte_order_mark(text);
  CsvTable table{.name = name};
  Collector collector(table, how);
  const std::string_view names = text.substr(0, text.find_first_of("\r\n"));
  Parser parser(how.separator ? how.separator : likely_separator(names));
  const std::size_t read =
      csv_parse(&parser, text.data(), text.size(), Collector::cell, Collector::row, &collector);
  if (read != text.size() || csv_fini(&parser, Collector::cell, Collector::row, &collector) != 0)
    throw Error(cat(name, ", line ", collector.line(), ": quotes that do not fit"),
                "a cell with quotes begins and ends with one, and has those within it doubled");
  if (!collector.fault().empty()) throw Error(cat(name, ": ", collector.fault()));
  check_columns(table);
  return table;
}

std::string csv_cell(const std::string& text) {
  const bool plain = text.find_first_of(",\"\r\n") == text.npos && trim(text) == text &&
                     // A reader would drop a byte order mark at the beginning of the file.
                     !text.starts_with(byte_order_mark);
  if (plain) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::optional<double> to_number(std::string_view text) {
  const std::string trimmed = trim(text);
  const char* begin = trimmed.data();
  const char* end = begin + trimmed.size();
  if (begin != end && *begin == '+' && trimmed.size() > 1 && begin[1] != '-') ++begin;
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || begin == end) return std::nullopt;
  return value;
}

}  // namespace lockstep
