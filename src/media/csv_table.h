// A CSV file in memory: a line of names, then rows of text.
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
  char separator = '\0';  // '\0': the likely one of the line of names
  std::uint64_t file_bytes = std::uint64_t{1} << 30;
  std::size_t most_rows = ~std::size_t{0};
  bool names = true;  // else the first line is a row too, and the columns are "1", "2", …
  std::int64_t first_line = 1;  // of the file, where the text is not its beginning
};

// Whichever of , ; tab and | the line has most of.
char likely_separator(std::string_view line);

struct CsvTable {
  std::string name;  // of the file, for messages
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell per column
  std::vector<std::int64_t> lines;             // where each row begins in the file, from 1

  // Where the column of that name is. Throws Error, which names the nearest.
  std::size_t column(const std::string& wanted) const;
  // The cell as a number; nothing where it is empty. Throws Error, which names line and column,
  // for what is no number.
  std::optional<double> number(std::size_t row, std::size_t column) const;
  // "a.csv, line 3": for messages.
  std::string place(std::size_t row) const;
};

// RFC 4180, and what is common besides: other separators, spaces around cells, which count only
// within quotes, lines that are empty, any end of a line, a byte order mark. Throws Error, which
// names file and line: rows of another length, columns without a name or with that of another,
// quotes that do not close, no line at all, more rows than asked for; or what the file is that is
// no text in UTF-8.
CsvTable read_csv(const std::filesystem::path& path, const ReadCsv& how = {});
CsvTable parse_csv(std::string_view text, const std::string& name, const ReadCsv& how = {});

// A text as a cell that parse_csv reads back as it is: in quotes where it must be.
std::string csv_cell(const std::string& text);

// "3.5", "-1e-3", "nan", "inf" with spaces around it; nothing for anything else.
std::optional<double> to_number(std::string_view text);

}  // namespace lockstep
