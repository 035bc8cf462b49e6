// The user's text in archives and lists of JSON. Reading it in small parts must give the same text
// as reading it whole. The lines of a list are its elements.
#include <algorithm>
#include <optional>

#include "core/base/files/file_kind.h"
#include "core/base/json/json.h"
#include "recipes/textgen/prepare/text_source.h"
#include "source_text.h"

namespace lockstep::textgen {
namespace {

struct Outcome {
  std::string text, error;
  bool is_list = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// More is not read: archives of a few bytes may have any length. A multiple of the small parts.
constexpr std::size_t whole_bytes = 1 << 16;

Outcome outcome_of(const SourceFile& file, std::size_t part_bytes) {
  Outcome outcome;
  try {
    TextSource source(file);
    outcome.is_list = source.is_list();
    std::string part(part_bytes, '\0');
    while (outcome.text.size() < whole_bytes) {
      const std::size_t count = source.read(part);
      outcome.text.append(part, 0, count);
      if (count < part.size()) break;
    }
    outcome.text.resize(std::min(outcome.text.size(), whole_bytes));
  } catch (const Error& error) {
    outcome.error = error.what();
    LOCKSTEP_CHECK(!outcome.error.empty());
  }
  return outcome;
}

void check_elements(const std::string& list, std::string_view lines) {
  const nlohmann::json value = parse_json(list);
  if (value.is_discarded()) return;
  LOCKSTEP_CHECK(value.is_array());
  for (const nlohmann::json& element : value)
    LOCKSTEP_CHECK(parse_json(fuzz::take_part(lines, '\n')) == element);
  LOCKSTEP_CHECK(lines.empty());
}

void check_skip(const SourceFile& file, const Outcome& whole) {
  const std::size_t half = whole.text.size() / 2;
  TextSource source(file);
  source.skip(static_cast<std::int64_t>(half));
  std::string rest(whole.text.size() - half, '\0');
  LOCKSTEP_CHECK(source.read(rest) == rest.size());
  LOCKSTEP_CHECK(rest == whole.text.substr(half));
}

}  // namespace
}  // namespace lockstep::textgen

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::textgen;
  const std::string_view text = fuzz::text_of(data, size);
  const SourceFile plain_file = fuzz::source_file(text);
  kind_of_file(text.substr(0, file_kind_bytes), "a.docx");
  for (const bool json : {false, true}) {
    SourceFile file = plain_file;
    file.jsonl = file.json = json;
    const Outcome whole = outcome_of(file, whole_bytes);
    const Outcome parts = outcome_of(file, 8);
    LOCKSTEP_CHECK(parts.error == whole.error && parts.is_list == whole.is_list);
    if (!whole.error.empty()) continue;
    LOCKSTEP_CHECK(parts.text == whole.text);
    check_skip(file, whole);
    if (!whole.is_list) continue;
    const Outcome plain = outcome_of(plain_file, whole_bytes);
    if (plain.error.empty()) check_elements(plain.text, whole.text);
  }
  return 0;
}
