// Reads a price file or table as cells, with any of the usual kinds of header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::gbdt {

// All rows of a file, including the row of names. Read once, and shared by all readers.
struct RawCells {
  struct Place {  // in `text`; eight bytes, because fresh memory is most of what reading costs
    static constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 24) - 1;
    std::uint64_t begin : 40, bytes : 24;
  };
  std::string name;  // name of the file, for messages
  std::string hash;  // of the file: 32 hex digits
  std::size_t columns = 0;
  std::vector<Place> cells;         // [rows, columns], without the blanks around them
  std::vector<std::int64_t> lines;  // where each row begins in the file, from 1
  std::string title;                // the lines above the names, which are one cell each; "": none
  // content of the file in UTF-8; for a file with quotes, its cells
  std::string text;

  std::size_t rows() const { return lines.size(); }
  std::size_t bytes() const {  // of memory
    return text.capacity() + cells.capacity() * sizeof(Place) +
           lines.capacity() * sizeof(std::int64_t);
  }
  std::string_view cell(std::size_t row, std::size_t column) const {
    const Place place = cells[row * columns + column];
    return {text.data() + place.begin, place.bytes};
  }
};

// text: UTF-8, or UTF-16 with its byte order mark. Lines above the names with one cell each (a
// title, an address) are left out. Throws Error, which names file and line, for rows of another
// length (except for one empty cell more at the end), quotes that do not close, bytes that are no
// text, and if there is no line.
std::shared_ptr<const RawCells> read_cells(std::string text, const std::string& name);

// The rows of a file together with the names of its columns.
struct CellTable {
  std::shared_ptr<const RawCells> raw;
  std::vector<std::string> columns;  // "": without a name; no name finds it
  std::size_t head = 1;              // rows of `raw` before the first
  std::vector<std::string> notes;    // notes for people about how the table was read

  std::size_t rows() const { return raw->rows() - head; }
  std::string_view cell(std::size_t row, std::size_t column) const {
    return raw->cell(row + head, column);
  }
  std::int64_t line(std::size_t row) const { return raw->lines[row + head]; }
  // "a.csv, line 3": for messages.
  std::string place(std::size_t row) const;
  // The index of the column of that name. Throws Error, which names the nearest.
  std::size_t column(const std::string& wanted) const;
};

// Finds the names. They are in the first row, or in the three rows that yfinance writes (fields,
// tickers, and the name of the time). With yfinance's rows, only the columns of one ticker are
// used: that of `symbol` if there are several. Binance's files of klines have no names; they are
// recognised by their twelve numbers. prices: whether the table is of prices. A first row without a
// letter is then no row of names.
// Throws Error, which names file and line, if none of several tickers is `symbol`, if there are no
// names, or if a name is repeated.
CellTable name_columns(std::shared_ptr<const RawCells> raw, const std::string& symbol, bool prices);

// The tickers of a file of yfinance, in its order; none for other files.
std::vector<std::string> tickers_of(const RawCells& raw);

// Whether it is a name that pandas or a spreadsheet gives to an index column: none, or "Unnamed:
// 0".
bool is_unnamed(std::string_view column);

// Checks text that goes into records (names of features, classes, symbols). It must be UTF-8. line:
// the line in the file. Throws Error, which names file and line.
void check_utf8(std::string_view text, const RawCells& raw, std::int64_t line);

// Reduces a name to its letters and digits in lower case: "Adj Close*" and "adj_close" become
// equal, but not "close_5".
std::string plain_name(std::string_view name);

}  // namespace lockstep::gbdt
