// JSON from outside.
#include "base/json.h"

namespace lockstep {

bool too_deep(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\')
      ++i;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == '[' || c == '{') && ++depth > deepest_json)
      return true;
    else if (!in_text && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

nlohmann::json parse_json(std::string_view text) {
  if (too_deep(text)) return nlohmann::json(nlohmann::json::value_t::discarded);
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

nlohmann::json parse_python_json(std::string_view text) {
  nlohmann::json value = parse_json(text);
  if (!value.is_discarded()) return value;
  std::string mended;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size();) {
    std::string_view word = text.substr(i, 1);
    if (!in_text)
      for (const std::string_view known : {"NaN", "Infinity", "-Infinity"})
        if (text.substr(i).starts_with(known)) word = known;
    if (in_text && word == "\\") word = text.substr(i, 2);
    if (word == "\"") in_text = !in_text;
    i += word.size();
    if (!in_text && word.size() > 2)
      mended.append("\"").append(word).append("\"");
    else
      mended += word;
  }
  return mended.size() == text.size() ? value : parse_json(mended);
}

}  // namespace lockstep
