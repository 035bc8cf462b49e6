// Names that people bring from other programs, and what is written here instead.
#include "config/synonym.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "config/parse.h"

namespace lockstep {
namespace {

bool is_off(const std::string& value) {
  return value == "None" || value == "none" || value == "False" ||
         detail::parse_boolean(value) == false;
}

std::string whole_text(std::int64_t number) { return std::to_string(number); }

// What all devices together take in one step.
std::string total_of(const std::string& value, const TypedBatch& batch) {
  const auto number = detail::parse_integer(value);
  if (!number || *number < 1 || *number > 1'000'000'000 || batch.devices < 1)
    return cat(value, "xDEVICES");
  return whole_text(*number * batch.devices * std::max<std::int64_t>(batch.accumulation, 1));
}

// "cuda:1" as "1", "auto" as "all".
std::string device_of(const std::string& value) {
  if (value.empty() || value == "auto" || value == "cuda" || value == "gpu" || value == "-1" ||
      value == "true" || value == "True")
    return "all";
  for (const std::string_view before : {"cuda:", "gpu:"})
    if (value.starts_with(before)) return value.substr(before.size());
  return value;
}

std::string first_devices(const std::string& value) {
  constexpr std::int64_t most = 64;
  const auto count = detail::parse_integer(value);
  if (!count || *count < 1 || *count > most) return "all";
  std::vector<std::string> indexes;
  for (std::int64_t i = 0; i < *count; ++i) indexes.push_back(whole_text(i));
  return join(indexes, ",");
}

void replace(std::string& text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
    text.replace(at, what.size(), by);
}

std::string in_code(const std::string& text) { return text.empty() ? "" : cat("`", text, "`"); }

}  // namespace

std::string plain_name(std::string_view typed) {
  std::string name(typed.substr(std::min(typed.find_first_not_of('-'), typed.size())));
  for (char& c : name)
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

const Synonym* find_synonym(std::span<const Synonym> synonyms, std::string_view typed) {
  const std::string name = plain_name(typed);
  for (const Synonym& synonym : synonyms)
    if (std::find(synonym.names.begin(), synonym.names.end(), name) != synonym.names.end())
      return &synonym;
  return nullptr;
}

std::string written_here(const Synonym& synonym, const std::string& value,
                         const TypedBatch& batch) {
  const bool off = !synonym.ours_when_off.empty() && !value.empty() && is_off(value);
  std::string text = off ? synonym.ours_when_off : synonym.ours;
  const std::string shown = value.empty() ? "VALUE" : value;
  replace(text, "{total}", total_of(shown, batch));
  replace(text, "{device}", device_of(value));
  replace(text, "{first}", first_devices(value));
  replace(text, "{path}",
          value.empty() || detail::parse_boolean(value) || value == "True" ? "PATH" : value);
  replace(text, "{value}", shown);
  return text;
}

std::string synonyms_markdown(std::span<const Synonym> synonyms) {
  std::string text = "| name | of | here | note |\n|---|---|---|---|\n";
  for (const Synonym& synonym : synonyms) {
    std::vector<std::string> names;
    for (const std::string& name : synonym.names) names.push_back(in_code(name));
    std::string ours = in_code(synonym.ours);
    if (!synonym.ours_when_off.empty()) ours += cat("; off: ", in_code(synonym.ours_when_off));
    replace(ours, "{value}", "VALUE");
    replace(ours, "{total}", "VALUE x devices x accumulation");
    replace(ours, "{device}", "DEVICE");
    replace(ours, "{first}", "0,1,…");
    replace(ours, "{path}", "PATH");
    text +=
        cat("| ", join(names, ", "), " | ", synonym.from, " | ", ours, " | ", synonym.note, " |\n");
  }
  return text;
}

}  // namespace lockstep
