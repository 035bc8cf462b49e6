#include "core/config/other_form.h"

#include <cctype>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "core/config/parse.h"

namespace lockstep::detail {
namespace {

bool is_bare_key(std::string_view key) {
  if (key.empty()) return false;
  for (const char c : key)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != '.')
      return false;
  return true;
}

// Removes a comment behind the value, and quotes around it.
std::string bare_value(std::string value) {
  if (const std::size_t comment = value.find(" #"); comment != value.npos) value.resize(comment);
  value = trim(value);
  const bool quoted = value.size() >= 2 && value.front() == value.back() &&
                      (value.front() == '"' || value.front() == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::string as_toml_value(const std::string& value) {
  if (const auto truth = parse_boolean(value == "True"    ? "true"
                                       : value == "False" ? "false"
                                                          : value);
      truth && !parse_integer(value))
    return *truth ? "true" : "false";
  if (parse_integer(value) || parse_real(value) || value.starts_with('[')) return value;
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Whether a dictionary of Python or JSON begins here. It may continue on further lines.
bool begins_dictionary(const std::string& value) {
  return value.starts_with('{') || value.starts_with("dict(");
}

}  // namespace

std::string as_toml_line(std::string_view line) {
  constexpr std::string_view exported = "export ";
  std::string text = trim(std::string(line));
  if (text.starts_with(exported)) text = trim(text.substr(exported.size()));
  const std::size_t mark = text.find_first_of(":=");
  if (mark == text.npos) return "";
  const std::string key = trim(text.substr(0, mark));
  const std::string value = bare_value(text.substr(mark + 1));
  if (!is_bare_key(key)) return "";
  if (begins_dictionary(value))
    return "each entry of the dictionary as a line NAME = VALUE of its own";
  if (value.empty()) return text[mark] == ':' ? cat("[", key, "]") : "";
  return cat(key, " = ", as_toml_value(value));
}

}  // namespace lockstep::detail
