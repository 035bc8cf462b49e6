#include "tools/cli/words/notebook_lines.h"

#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"

namespace lockstep::cli {
namespace {

using nlohmann::json;

// The text of a cell, which is stored as one string or as a list of lines.
std::string cell_source(const json& source) {
  if (source.is_string()) return source.get<std::string>();
  std::string text;
  if (source.is_array())
    for (const json& line : source)
      if (line.is_string()) text += line.get<std::string>();
  return text;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Whether the line is a magic command such as "%matplotlib inline" or "%%bash". "% (a, b)"
// continues the line above.
bool is_magic(std::string_view code) {
  const std::size_t name = code.find_first_not_of('%');
  return (name == 1 || name == 2) && name != code.npos && is_letter(code[name]);
}

// Whether the line is a shell command such as "!ls". "!= b" is not.
bool is_shell_command(std::string_view code) {
  return code.starts_with('!') && !code.starts_with("!=");
}

// Whether the line is like "files = !ls". Python itself never has "!" at this position.
bool keeps_output(std::string_view code) {
  constexpr std::string_view of_names =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_, ";
  const std::size_t equals = code.find('=');
  return equals != code.npos && code.find_first_not_of(of_names) == equals &&
         is_shell_command(trim(code.substr(equals + 1)));
}

void add_lines(const json& cell, KernelLines& lines) {
  if (!cell.is_object() || cell.value("cell_type", json()) != "code") return;
  for (const std::string& line : split(cell_source(cell.value("source", json())), '\n')) {
    const std::string code = trim(line);
    if (!is_shell_command(code) && !is_magic(code) && !keeps_output(code)) continue;
    if (lines.count++ == 0) lines.first = code;
  }
}

}  // namespace

KernelLines kernel_lines(const std::filesystem::path& notebook) {
  constexpr std::uint64_t most_bytes = 64 << 20;  // notebooks contain the pictures of their outputs
  KernelLines lines;
  try {
    const json parsed = parse_json(read_file(notebook, most_bytes));
    if (!parsed.is_object()) return {};
    for (const json& cell : parsed.value("cells", json::array())) add_lines(cell, lines);
  } catch (const Error&) {
    return {};
  }
  return lines;
}

}  // namespace lockstep::cli
