// Recognizes file formats by their first line.
#include "recipes/dimabsa/sentences/files/file_form.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/file_kind.h"
#include "core/base/text/text.h"

namespace lockstep::dimabsa {
namespace {

constexpr const char* form_of_lines =
    "{\"ID\": …, \"Text\": …, \"Quadruplet\": [{\"Aspect\": …, \"Opinion\": …, \"Category\": …, "
    "\"VA\": \"7.12#6.50\"}]}";

bool is_number(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

// "3,5" is a span of words in ACOS. "-1,-1" is an implicit phrase.
bool is_span(const std::string& word) {
  const std::vector<std::string> ends = split(word, ',');
  return ends.size() == 2 && is_number(ends[0]) && is_number(ends[1]);
}

// TEXT, then an element such as "0,2 FOOD#QUALITY 2 3,4" after each tab.
bool is_acos(std::string_view line) {
  const std::vector<std::string> fields = split(line, '\t');
  if (fields.size() < 2) return false;
  const std::vector<std::string> words = split(trim(fields[1]), ' ');
  return words.size() == 4 && is_span(words[0]) && is_number(words[2]) && is_span(words[3]);
}

[[noreturn]] void without_va(const std::string& name, const std::string& form) {
  throw Error(cat(name, " holds ", form, ", but JSON Lines are read"),
              cat("that form has polarities, and no valence and arousal, which need ratings of "
                  "their own; write each sentence on a line: ",
                  form_of_lines));
}

}  // namespace

void refuse_other_forms(std::string_view file, const std::string& name, bool texts) {
  if (const auto kind = kind_of_file(file.substr(0, file_kind_bytes), name))
    throw Error(cat(name, " is ", kind->name, ", but JSON Lines in UTF-8 are read"),
                text_remedy(*kind, name, TextForm::json_lines));
  file = without_byte_order_mark(file);
  const std::size_t first = file.find_first_not_of(" \t");
  if (first == file.npos) return;
  file.remove_prefix(first);
  const std::string_view line = file.substr(0, file.find('\n'));
  if (line.starts_with("<?xml") || line.starts_with("<sentences") || line.starts_with("<Reviews"))
    without_va(name, "XML, as SemEval's files of 2014 to 2016 are");
  const bool is_object = line.starts_with('{');
  if (!is_object && line.find("####[") != line.npos)
    without_va(name, "lines of ASTE or ASQP (TEXT####[…])");
  if (!is_object && is_acos(line)) without_va(name, "lines of ACOS (TEXT, a tab, spans of words)");
  const std::size_t next = file.find_first_not_of(" \t\r\n", 1);
  const char second = next == file.npos ? '\0' : file[next];
  if (file[0] == '[' && (!texts || second == '{' || second == '"' || second == ']'))
    throw Error(cat(name, " holds one JSON list, but JSON Lines are read"),
                "jq -c '.[]' FILE > NEW.jsonl writes each object of the list on a line of its own");
  if (trim(line) == "{")
    throw Error(cat(name, " holds objects over several lines, but JSON Lines are read"),
                "jq -c . FILE > NEW.jsonl writes each object on a line of its own");
}

}  // namespace lockstep::dimabsa
