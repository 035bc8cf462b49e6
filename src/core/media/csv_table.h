// Reads a CSV file into memory: a header line, then rows of text cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct ReadCsv {
  char separator = '\0';  // '\0': likely_separator() of the header
  std::uint64_t file_bytes = std::uint64_t{1} << 30;
  std::size_t most_rows = ~std::size_t{0};
  bool names = true;  // if false, there is no header line, and the columns are named "1", "2", …
  std::int64_t first_line = 1;  // the line number of the first line, for messages
};

// Returns the character among comma, semicolon, tab and | that is most frequent in the line.
char likely_separator(std::string_view line);

struct CsvTable {
  std::string name;  // name of the file, for messages
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell per column
  // The line of the file at which each row begins, from 1.
  std::vector<std::int64_t> lines;

  // Returns the index of the column with this name. If there is none, throws Error with the most
  // similar name.
  std::size_t column(const std::string& wanted) const;
  // Returns a cell as a number, or nothing if it is empty. If the cell is not a number, throws
  // Error that names the line and the column.
  std::optional<double> number(std::size_t row, std::size_t column) const;
  // Returns where a row is in the file, for messages: "a.csv, line 3".
  std::string place(std::size_t row) const;
};

// Reads CSV as in RFC 4180, with common extensions: other separators, empty lines, any line ending
// and a byte order mark. Spaces around a cell are kept only within quotes. Throws Error in these
// cases:
// - The number of cells in a row differs from the number of columns.
// - A column has no name, or two columns have the same name.
// - A quote is not closed, or stands within a cell without quotes.
// - The text has no line, or more than how.most_rows rows.
// The error names the file, and the line if there is one. If the file is not text, read_csv throws
// Error that names its kind.
CsvTable read_csv(const std::filesystem::path& path, const ReadCsv& how = {});
CsvTable parse_csv(std::string_view text, const std::string& name, const ReadCsv& how = {});

// Returns the text as a cell, quoted if necessary. parse_csv reads it back unchanged if the
// separator is a comma.
std::string csv_cell(const std::string& text);

// Parses "3.5", "-1e-3", "nan" and "inf", also with spaces around them. Returns nothing for any
// other text.
std::optional<double> to_number(std::string_view text);

}  // namespace lockstep
