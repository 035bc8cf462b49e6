#include "tools/report/trackers/plain_yaml.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/json/json.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// Removes single quotes around a text.
std::string without_quotes(std::string_view quoted) {
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '\'' && i + 1 < quoted.size() && quoted[i + 1] == '\'') ++i;
    text += quoted[i];
  }
  return text;
}

// Decodes a text in double quotes. PyYAML's escapes are also valid in JSON, except \xNN.
std::string without_escapes(const std::string& quoted) {
  std::string escaped;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    escaped += quoted[i];
    if (quoted[i] != '\\' || ++i == quoted.size()) continue;
    escaped += quoted[i] == 'x' ? std::string("u00") : std::string(1, quoted[i]);
  }
  const nlohmann::json text = parse_json(escaped);
  return text.is_string() ? text.get<std::string>() : quoted;
}

// Reads a scalar. Returns false if the value is not a scalar.
bool take_scalar(const std::string& value, std::string& scalar) {
  if (value.empty()) return false;
  const char first = value.front();
  if (first == '\'' || first == '"') {
    if (value.size() < 2 || value.back() != first) return false;
    scalar = first == '"' ? without_escapes(value)
                          : without_quotes(std::string_view(value).substr(1, value.size() - 2));
    return true;
  }
  if (std::string_view("|>!&*[{%@`").find(first) != std::string_view::npos) return false;
  scalar = value == "null" || value == "~" ? "" : value;
  return true;
}

}  // namespace

std::map<std::string, std::string> plain_yaml(std::string_view text) {
  std::map<std::string, std::string> values;
  std::string key, value;
  const auto finish = [&] {
    std::string scalar;
    if (!key.empty() && take_scalar(value, scalar)) values[key] = std::move(scalar);
    key.clear();
  };
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with(' ')) {  // PyYAML breaks long lines
      if (!key.empty() && !value.empty()) value += ' ' + trim(line);
      continue;
    }
    finish();
    const std::size_t colon = line.find(':');
    const bool ends = colon != line.npos && (colon + 1 == line.size() || line[colon + 1] == ' ');
    if (!ends || line.starts_with('#') || line.starts_with('-')) continue;
    key = trim(std::string_view(line).substr(0, colon));
    value = trim(std::string_view(line).substr(colon + 1));
  }
  finish();
  return values;
}

}  // namespace lockstep
