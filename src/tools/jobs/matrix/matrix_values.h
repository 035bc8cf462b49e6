// Reads the values of a parameter from a job file.
#pragma once

#include <filesystem>
#include <string>

#include "core/config/toml_tree.h"
#include "tools/jobs/matrix/matrix.h"

namespace lockstep {

// Reads one key of [matrix]. Its value may be:
//   lr = [0.1, 0.01]                                     a list
//   seed = {from = 1, to = 10, step = 1}                 a range of numbers, with both ends
//   start = {from = "2022-01-01", to = "2024-12-01", step = "180d"}    a range of dates
//   symbol = {lines = "symbols.txt"}                     the non-empty lines of a file
//   symbol = {csv = "windows.csv", column = "ticker"}    a column of a CSV file
//   window = {csv = "windows.csv", columns = ["start", "end"]}
//                                  several columns, whose values {start} and {end} vary together
//   window = [{start = "a", end = "b"}, …]               values that vary together
// Files are relative to `folder`. Throws Error, which names `file` and the line, if a value or a
// file is not valid.
MatrixAxis read_axis(const std::string& key, const detail::TomlNode& node,
                     const std::filesystem::path& folder, const std::string& file);

// Returns a number, text, boolean or date as it is written. Throws Error for other values. Also
// throws Error for a text with a NUL, which cannot be passed to a program.
std::string scalar_text(const detail::TomlNode& node, const std::string& what);

// Whether a program can receive the text and a ledger can store it. It must be UTF-8 without a NUL.
bool is_value(const std::string& text);
// Throws an Error for a text for which is_value() is false. where: the place of the value, such as
// "names.txt, line 2".
[[noreturn]] void fail_value(const std::string& text, const std::string& where);

// Returns the non-empty lines of a list, which are read by lines_of(). Throws Error, which names
// `source` and the line, if a line is not a valid value.
std::vector<std::string> value_lines(const std::string& text, const std::string& source);

}  // namespace lockstep
