#include "core/base/json/json_text.h"

#include <charconv>

#include "core/base/text/utf8.h"

namespace lockstep {
namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

void append_escaped(std::string& json, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80) {
    json += c;
  } else if (c == '"' || c == '\\') {
    json += '\\';
    json += c;
  } else if (c == '\n') {
    json += "\\n";
  } else if (c == '\t') {
    json += "\\t";
  } else {
    json += "\\u00";
    json += digits[byte >> 4];
    json += digits[byte & 0xF];
  }
}

}  // namespace

bool append_json_text(std::string& json, std::string_view text) {
  std::size_t plain = 0;
  while (plain < text.size() && is_plain(text[plain])) ++plain;
  if (plain < text.size() && invalid_bytes(text.substr(plain)) > 0) return false;
  json += '"';
  json += text.substr(0, plain);
  for (const char c : text.substr(plain)) {
    if (is_plain(c))
      json += c;
    else
      append_escaped(json, c);
  }
  json += '"';
  return true;
}

void append_json_number(std::string& json, double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  json.append(text, end);
}

}  // namespace lockstep
