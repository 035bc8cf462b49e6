#include "recipes/gbdt/bars/cell_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/file_kind.h"
#include "core/base/hash.h"
#include "core/base/process/memory.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "core/media/csv_table.h"

namespace lockstep::gbdt {
namespace {

// guessed: whether the file may have another encoding than `from`.
[[noreturn]] void refuse_bytes(const std::string& name, const std::string& why, const char* from,
                               bool guessed) {
  throw Error(cat(name, why), cat("iconv -f ", from, " -t UTF-8 ", shell_word(name),
                                  " > converted.csv makes UTF-8 of it",
                                  guessed ? cat(", if it is ", from) : std::string()));
}

// Converts UTF-16 text without its byte order mark.
std::string from_utf16(std::string_view text, bool big_endian, const std::string& name) {
  const char* const encoding = big_endian ? "UTF-16BE" : "UTF-16LE";
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(text[at]),
               second = static_cast<unsigned char>(text[at + 1]);
    return static_cast<char32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::string converted;
  converted.reserve(text.size() / 2);
  std::size_t at = 0;
  for (; at + 1 < text.size(); at += 2) {
    char32_t point = unit(at);
    if (point >= 0xD800 && point < 0xE000) {
      const char32_t low = point < 0xDC00 && at + 3 < text.size() ? unit(at + 2) : 0;
      if (low < 0xDC00 || low >= 0xE000)
        refuse_bytes(name, cat(": byte ", at + 3, " begins no character of UTF-16"), encoding,
                     false);
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      at += 2;
    }
    append_utf8(converted, point);
  }
  if (at != text.size()) refuse_bytes(name, " ends within a character of UTF-16", encoding, false);
  return converted;
}

// Returns the text in UTF-8 without a byte order mark.
std::string in_utf8(std::string text, const std::string& name) {
  using namespace std::literals;
  if (text.starts_with("\xFF\xFE"sv))
    text = from_utf16(std::string_view(text).substr(2), false, name);
  else if (text.starts_with("\xFE\xFF"sv))
    text = from_utf16(std::string_view(text).substr(2), true, name);
  refuse_no_csv(text, name, TextForm::csv_with_index);
  const std::size_t nul = text.find('\0');
  if (nul != text.npos)
    refuse_bytes(name, cat(": byte ", nul + 1, " is 0, as no text has it"), "UTF-16LE", true);
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

// Removes the first line from `rest` and returns it.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
  const std::string_view line = rest.substr(0, end);
  const std::size_t both = rest.substr(end).starts_with("\r\n") ? 2 : 1;
  rest.remove_prefix(std::min(end + both, rest.size()));
  return line;
}

bool has_separator(std::string_view line) { return line.find_first_of(",;\t|") != line.npos; }

// The title above a table. It consists of lines without a separator, and possibly empty lines,
// before the first line with several cells.
struct Title {
  std::string text;
  std::size_t bytes = 0;
  std::int64_t lines = 0;
};
Title find_title(std::string_view text) {
  constexpr int most_lines = 10;
  Title title, none;
  std::string_view rest = text;
  for (int i = 0; i < most_lines && !rest.empty(); ++i) {
    const std::string_view line = take_line(rest);
    const std::string words = trim(line);
    if (!words.empty() && has_separator(line)) return title;
    if (!words.empty()) title.text += (title.text.empty() ? "" : " ") + words;
    ++title.lines;
    title.bytes = text.size() - rest.size();
  }
  return none;
}

RawCells::Place place_of(const RawCells& raw, std::size_t begin, std::size_t bytes,
                         std::int64_t line) {
  if (bytes > RawCells::Place::most_bytes)
    throw Error(cat(raw.name, ", line ", line, ": a cell has ",
                    format_bytes(static_cast<double>(bytes)), ", more than any number or name"));
  return {.begin = begin, .bytes = bytes};
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Adds the rows of raw.text from a position on. The text must have no quotes. The result is that of
// libcsv, several times faster.
class PlainRows {
 public:
  PlainRows(RawCells& raw, char separator, std::int64_t first_line)
      : raw_(raw), separator_(separator), line_(first_line) {}

  void add(std::size_t begin_of_rows) {
    std::array<bool, 256> ends{};
    for (const char c : {separator_, '\n', '\r'}) ends[static_cast<unsigned char>(c)] = true;
    const char* at = raw_.text.data() + begin_of_rows;
    const char* const stop = raw_.text.data() + raw_.text.size();
    const auto lines = static_cast<std::size_t>(std::count(at, stop, '\n')) + 1;
    reserve_in_large_pages(raw_.cells,
                           static_cast<std::size_t>(std::count(at, stop, separator_)) + lines);
    raw_.lines.reserve(lines);
    while (at != stop) {
      const char* const begin = at;
      while (at != stop && !ends[static_cast<unsigned char>(*at)]) ++at;
      add_cell(begin, at);
      if (at != stop && *at == separator_) {
        ++at;
        if (at == stop) add_cell(at, at);
        continue;
      }
      end_row();
      if (at == stop) return;
      at += *at == '\r' && at + 1 != stop && at[1] == '\n' ? 2 : 1;
    }
    if (raw_.cells.size() > row_begin_) end_row();
  }

 private:
  void add_cell(const char* begin, const char* end) {
    while (begin != end && is_blank(*begin)) ++begin;
    while (begin != end && is_blank(end[-1])) --end;
    raw_.cells.push_back(place_of(raw_, static_cast<std::size_t>(begin - raw_.text.data()),
                                  static_cast<std::size_t>(end - begin), line_));
  }

  void end_row() {
    std::size_t count = raw_.cells.size() - row_begin_;
    const std::int64_t line = line_++;
    const bool last_is_empty = raw_.cells.back().bytes == 0;
    if (count == 1 && last_is_empty) {  // an empty line
      raw_.cells.pop_back();
      return;
    }
    if (raw_.columns == 0) raw_.columns = count;
    if (count == raw_.columns + 1 && last_is_empty) {
      raw_.cells.pop_back();
      --count;
    }
    if (count != raw_.columns)
      throw Error(cat(raw_.name, ": line ", line, " has ", count, " cells, but there are ",
                      raw_.columns, " columns"),
                  raw_.lines.size() == 1
                      ? cat("line ", raw_.lines[0],
                            " is taken as the names of the columns; take away what stands above "
                            "them")
                      : "");
    raw_.lines.push_back(line);
    row_begin_ = raw_.cells.size();
  }

  RawCells& raw_;
  const char separator_;
  std::int64_t line_;
  std::size_t row_begin_ = 0;
};

void add_quoted(RawCells& raw, std::size_t begin, char separator, std::int64_t first_line) {
  CsvTable table = parse_csv(std::string_view(raw.text).substr(begin), raw.name,
                             {.separator = separator, .names = false, .first_line = first_line});
  raw.columns = table.columns.size();
  raw.lines = std::move(table.lines);
  raw.text.clear();
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (const std::string& cell : table.rows[row]) {
      raw.cells.push_back(place_of(raw, raw.text.size(), cell.size(), raw.lines[row]));
      raw.text += cell;
    }
}

// Names of price fields, and of other fields that yfinance writes.
bool is_field(std::string_view name) {
  constexpr std::array fields = {"open",         "high",     "low",          "close",
                                 "adjclose",     "volume",   "dividends",    "stocksplits",
                                 "capitalgains", "repaired", "adjustedclose"};
  return std::find(fields.begin(), fields.end(), plain_name(name)) != fields.end();
}

bool all_fields(const RawCells& raw, std::size_t row) {
  for (std::size_t i = 1; i < raw.columns; ++i)
    if (!is_field(raw.cell(row, i))) return false;
  return true;
}

// The header rows in which yfinance writes fields and tickers.
struct Levels {
  std::size_t fields = 0, tickers = 1;  // row numbers
};
std::optional<Levels> find_levels(const RawCells& raw) {
  if (raw.rows() < 3 || raw.columns < 2) return std::nullopt;
  const std::string time = plain_name(raw.cell(2, 0));
  if (time != "date" && time != "datetime" && time != "timestamp") return std::nullopt;
  for (std::size_t i = 1; i < raw.columns; ++i)
    if (!raw.cell(2, i).empty()) return std::nullopt;
  if (all_fields(raw, 0)) return Levels{};
  if (all_fields(raw, 1)) return Levels{.fields = 1, .tickers = 0};
  return std::nullopt;
}

void name_by_levels(CellTable& table, const Levels& levels, const std::string& symbol) {
  const RawCells& raw = *table.raw;
  const std::vector<std::string> tickers = tickers_of(raw);
  const bool named = std::find(tickers.begin(), tickers.end(), symbol) != tickers.end();
  if (tickers.size() > 1 && !named)
    throw Error(
        cat(raw.name, ", line ", raw.lines[levels.tickers], ": the prices are of ", tickers.size(),
            " tickers, ", join(tickers, ", "), ", of which none is ", symbol),
        cat("symbol=", tickers[0], " takes one of them"));
  const std::string& ticker = named ? symbol : tickers.front();
  table.head = 3;
  table.columns = {std::string(raw.cell(2, 0))};
  for (std::size_t i = 1; i < raw.columns; ++i)
    table.columns.emplace_back(raw.cell(levels.tickers, i) == ticker ? raw.cell(levels.fields, i)
                                                                     : std::string_view());
}

bool has_letter(const RawCells& raw, std::size_t row) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
  };
  for (std::size_t i = 0; i < raw.columns; ++i) {
    const std::string_view cell = raw.cell(row, i);
    if (std::any_of(cell.begin(), cell.end(), is_letter)) return true;
  }
  return false;
}

// Whether the rows are klines of data.binance.vision: open time, prices, volume, close time and
// five more columns.
bool are_klines(const RawCells& raw) {
  if (raw.columns != 12) return false;
  const std::string_view open_time = raw.cell(0, 0), close_time = raw.cell(0, 6);
  const bool milliseconds = open_time.size() == 13, microseconds = open_time.size() == 16;
  return (milliseconds || microseconds) && close_time.size() == open_time.size() &&
         close_time > open_time;
}

void check_names(const CellTable& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!table.columns[i].empty() && table.columns[i] == table.columns[j])
        throw Error(cat(table.raw->name, ", line ", table.raw->lines[0], ": two columns are named ",
                        table.columns[i]),
                    "each column needs a name of its own, in one line above the rows");
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string kept;
  for (const char c : name) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) kept += c;
    if (c >= 'A' && c <= 'Z') kept += static_cast<char>(c - 'A' + 'a');
  }
  return kept;
}

bool is_unnamed(std::string_view column) {
  constexpr std::string_view pandas = "Unnamed: ";
  return column.empty() || (column.starts_with(pandas) && column.size() > pandas.size() &&
                            column[pandas.size()] >= '0' && column[pandas.size()] <= '9');
}

void check_utf8(std::string_view text, const RawCells& raw, std::int64_t line) {
  if (invalid_bytes(text) > 0)
    refuse_bytes(raw.name,
                 cat(", line ", line, ": ", printable(std::string(text)), " is not UTF-8"),
                 "ISO-8859-1", true);
}

std::shared_ptr<const RawCells> read_cells(std::string text, const std::string& name) {
  auto raw = std::make_shared<RawCells>();
  raw->name = name;
  raw->hash = hash128_hex(text);
  raw->text = in_utf8(std::move(text), name);
  std::string_view rest = raw->text;
  const Title title = find_title(rest);
  raw->title = title.text;
  rest.remove_prefix(title.bytes);
  const std::string_view names = rest.substr(0, rest.find_first_of("\r\n"));
  const char separator = likely_separator(names);
  if (rest.find('"') == rest.npos)
    PlainRows(*raw, separator, title.lines + 1).add(title.bytes);
  else
    add_quoted(*raw, title.bytes, separator, title.lines + 1);
  if (raw->rows() == 0) throw Error(cat(name, " holds no line of names"));
  return raw;
}

std::string CellTable::place(std::size_t row) const { return cat(raw->name, ", line ", line(row)); }

std::size_t CellTable::column(const std::string& wanted) const {
  const auto found = std::find(columns.begin(), columns.end(), wanted);
  if (!wanted.empty() && found != columns.end())
    return static_cast<std::size_t>(found - columns.begin());
  const std::string near = nearest(wanted, columns);
  throw Error(cat(raw->name, " has no column ", wanted),
              near.empty() ? cat("its columns are ", join(columns, ", "))
                           : cat("the nearest of its columns is ", near));
}

std::vector<std::string> tickers_of(const RawCells& raw) {
  std::vector<std::string> tickers;
  const auto levels = find_levels(raw);
  if (!levels) return tickers;
  for (std::size_t i = 1; i < raw.columns; ++i) {
    std::string ticker(raw.cell(levels->tickers, i));
    if (std::find(tickers.begin(), tickers.end(), ticker) == tickers.end())
      tickers.push_back(std::move(ticker));
  }
  return tickers;
}

CellTable name_columns(std::shared_ptr<const RawCells> raw, const std::string& symbol,
                       bool prices) {
  CellTable table{.raw = std::move(raw)};
  const RawCells& cells = *table.raw;
  if (!cells.title.empty())
    table.notes.push_back(
        cat("'", printable(cells.title), "' above the names is taken as a title"));
  if (const auto levels = find_levels(cells)) {
    name_by_levels(table, *levels, symbol);
  } else if (prices && !has_letter(cells, 0)) {
    if (!are_klines(cells))
      throw Error(cat(cells.name, ", line ", cells.lines[0],
                      ": it has no names of columns, but begins with ",
                      printable(std::string(cells.cell(0, 0)))),
                  "write a first line such as timestamp,open,high,low,close,volume");
    table.head = 0;
    table.columns = {"open_time",  "open",         "high",  "low",      "close",     "volume",
                     "close_time", "quote_volume", "count", "buy_base", "buy_quote", "ignore"};
    table.notes.emplace_back("without names of columns: read as Binance's klines");
  } else {
    for (std::size_t i = 0; i < cells.columns; ++i) table.columns.emplace_back(cells.cell(0, i));
  }
  check_names(table);
  return table;
}

}  // namespace lockstep::gbdt
