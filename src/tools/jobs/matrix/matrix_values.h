// Reads the values of a parameter from a job file.
#pragma once

#include <filesystem>
#include <string>

#include "core/config/toml_tree.h"
#include "tools/jobs/matrix/matrix.h"

namespace lockstep {

// One key of [matrix]:
//   lr = [0.1, 0.01]                               a list
//   seed = {from = 1, to = 10, step = 1}           a range of numbers, both ends counted
//   start = {from = "2022-01-01", to = "2024-12-01", step = "180d"}    … of dates
//   symbol = {lines = "symbols.txt"}               lines of a file, without empty ones
//   symbol = {csv = "windows.csv", column = "ticker"}     a column of a CSV file
//   window = {csv = "windows.csv", columns = ["start", "end"]}
//                                                  several, row by row: {start} and {end}
//   window = [{start = "a", end = "b"}, …]         values that go together, likewise
// Files are relative to `folder`. Throws Error, which names `file` and the line.
MatrixAxis read_axis(const std::string& key, const detail::TomlNode& node,
                     const std::filesystem::path& folder, const std::string& file);

// A number, text, boolean or date as it is written. Throws Error for other values, and for a text
// with a NUL, which cannot be passed to a program.
std::string scalar_text(const detail::TomlNode& node, const std::string& what);

// Whether a program can receive the text and a ledger can store it: UTF-8 without a NUL.
bool is_value(const std::string& text);
// Throws the Error for an invalid value. where: the place of the value, "names.txt, line 2".
[[noreturn]] void fail_value(const std::string& text, const std::string& where);

// The non-empty lines of a list, read by lines_of. Throws Error, which names `source` and the line.
std::vector<std::string> value_lines(const std::string& text, const std::string& source);

}  // namespace lockstep
