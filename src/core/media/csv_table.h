// A CSV file in memory: a header line, then rows of text.
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
  char separator = '\0';  // '\0': the likely one, by the header
  std::uint64_t file_bytes = std::uint64_t{1} << 30;
  std::size_t most_rows = ~std::size_t{0};
  bool names = true;  // false: the first line is a row too, and the columns are "1", "2", …
  std::int64_t first_line = 1;  // line number in the file at which the text begins
};

// The character among , ; tab and | that is most frequent in the line.
char likely_separator(std::string_view line);

struct CsvTable {
  std::string name;  // name of the file, for messages
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell per column
  std::vector<std::int64_t> lines;             // the line in the file at which each row begins,
                                               // from 1

  // The index of the column with that name. Throws Error, which names the nearest.
  std::size_t column(const std::string& wanted) const;
  // The cell as a number; nothing if it is empty. Throws Error, which names line and column, if it
  // is not a number.
  std::optional<double> number(std::size_t row, std::size_t column) const;
  // "a.csv, line 3": for messages.
  std::string place(std::size_t row) const;
};

// RFC 4180 with common extensions: other separators, spaces around cells (kept only within quotes),
// empty lines, any line ending, a byte order mark. Throws Error, which names file and line, for
// rows of different length, unnamed or repeated columns, unclosed quotes, no line at all, and more
// rows than requested. For a file that is not UTF-8 text, the Error names its kind.
CsvTable read_csv(const std::filesystem::path& path, const ReadCsv& how = {});
CsvTable parse_csv(std::string_view text, const std::string& name, const ReadCsv& how = {});

// A text as a cell that parse_csv reads back unchanged, quoted if necessary.
std::string csv_cell(const std::string& text);

// "3.5", "-1e-3", "nan", "inf", with spaces around it; nothing for anything else.
std::optional<double> to_number(std::string_view text);

}  // namespace lockstep
