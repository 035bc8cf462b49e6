// Reads a file of prices or a table as cells, and finds the names of its columns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::gbdt {

// All rows of a file, including the row of names. They are read once and shared by all readers.
struct RawCells {
  // Where a cell lies in `text`. A Place takes only eight bytes, because most of the reading time
  // is spent on newly allocated memory.
  struct Place {
    static constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 24) - 1;
    std::uint64_t begin : 40, bytes : 24;
  };
  std::string name;  // name of the file, for messages
  std::string hash;  // hash of the file, 32 hex digits
  std::size_t columns = 0;
  std::vector<Place> cells;         // [rows, columns]; blanks around a cell are not part of it
  std::vector<std::int64_t> lines;  // [rows]: the line of the file in which each row begins, from 1
  std::string title;                // lines above the row of names, joined by spaces; may be empty
  // the file in UTF-8; if the file has quotation marks, only its cells, one after the other
  std::string text;

  std::size_t rows() const { return lines.size(); }
  std::size_t bytes() const {  // memory in bytes
    return text.capacity() + cells.capacity() * sizeof(Place) +
           lines.capacity() * sizeof(std::int64_t);
  }
  std::string_view cell(std::size_t row, std::size_t column) const {
    const Place place = cells[row * columns + column];
    return {text.data() + place.begin, place.bytes};
  }
};

// Reads the cells of a text in UTF-8, or in UTF-16 with its byte order mark. Lines of one cell
// above the row of names, such as a title, become RawCells::title. A row may have one empty cell
// more at its end. Throws Error if rows have different numbers of cells, if a quotation does not
// end, or if there is no row. Also throws Error for bytes that are not text. The error names the
// file and the place in it. name: the file's name.
std::shared_ptr<const RawCells> read_cells(std::string text, const std::string& name);

// The rows of a file together with the names of its columns.
struct CellTable {
  std::shared_ptr<const RawCells> raw;
  std::vector<std::string> columns;  // empty for a column without a name
  std::size_t head = 1;              // number of rows of `raw` above the data
  std::vector<std::string> notes;    // for users: how the table was read

  std::size_t rows() const { return raw->rows() - head; }
  std::string_view cell(std::size_t row, std::size_t column) const {
    return raw->cell(row + head, column);
  }
  std::int64_t line(std::size_t row) const { return raw->lines[row + head]; }
  // Returns a text like "a.csv, line 3", for messages.
  std::string place(std::size_t row) const;
  // Returns the index of the column with that name. Throws Error if there is none; the hint names
  // the most similar column.
  std::size_t column(const std::string& wanted) const;
};

// Finds the names of the columns. They are in the first row, or in the three rows that yfinance
// writes: fields, tickers, and the name of the time. With yfinance's rows, only the columns of one
// ticker get names. If there are several tickers, this is the ticker `symbol`. Binance's files of
// klines (bars) have no names, but are recognised by their twelve columns of numbers. prices:
// whether the table has prices. If so, a first row without any letter does not count as names.
//
// Throws Error, which names file and line, if there are several tickers and none is `symbol`. Also
// throws Error if there are no names, or if a name is repeated.
CellTable name_columns(std::shared_ptr<const RawCells> raw, const std::string& symbol, bool prices);

// Returns the tickers in yfinance's rows of names, in the order of the file. The result is empty
// for other files.
std::vector<std::string> tickers_of(const RawCells& raw);

// Whether a name is empty or like "Unnamed: 0". pandas and spreadsheets give such names to index
// columns.
bool is_unnamed(std::string_view column);

// Throws Error, which names file and line, if a text is not UTF-8. Use it for texts that are
// written to JSON records: names of features, classes and symbols. line: the line in the file.
void check_utf8(std::string_view text, const RawCells& raw, std::int64_t line);

// Returns only the ASCII letters of a name, in lower case, and its digits. So "Adj Close*" and
// "adj_close" become equal, but "close" and "close_5" do not.
std::string plain_name(std::string_view name);

}  // namespace lockstep::gbdt
