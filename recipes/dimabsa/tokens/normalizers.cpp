// Reads normalizers and applies them.
#include "recipes/dimabsa/tokens/normalizers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/base64.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/tokens/bert_normalizer.h"
#include "recipes/dimabsa/tokens/sentence_piece/precompiled.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;

constexpr const char* normalizer_hint =
    "save the tokenizer of the base model without changing its normalizer, or take a model of the "
    "BERT, XLM-R or DeBERTa-v3 family";

bool flag_of(const json& part, const char* key, bool otherwise) {
  const auto found = part.find(key);
  return found != part.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

Characters small_letters(const Characters& text) {
  Characters out;
  out.reserve(text.size());
  for (const Character& c : text)
    for (const char32_t value : lower(c.value)) out.push_back({value, c.begin, c.end});
  return out;
}

Characters stripped(Characters text, bool left, bool right) {
  const auto is_visible = [](const Character& c) { return !is_white(c.value); };
  if (right) text.erase(std::find_if(text.rbegin(), text.rend(), is_visible).base(), text.end());
  if (left) text.erase(text.begin(), std::ranges::find_if(text, is_visible));
  return text;
}

// Calls length(text, at) at each position. That number of characters is replaced by `content`; 0
// replaces none.
template <class Length>
Characters replaced(const Characters& text, const std::u32string& content, const Length& length) {
  Characters out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t count = length(text, at);
    if (count == 0) {
      out.push_back(text[at++]);
      continue;
    }
    for (const char32_t value : content)
      out.push_back({value, text[at].begin, text[at + count - 1].end});
    at += count;
  }
  return out;
}

std::u32string characters_in(const std::string& text) {
  std::u32string values;
  for (const Character& c : characters_of(text)) values += c.value;
  return values;
}

// The regular expressions that occur in tokenizers of the supported families. They match runs of
// whitespace.
struct Run {
  const char* pattern;
  bool white;              // true = any whitespace, false = spaces
  std::size_t least;       // minimum length of a run
  const char32_t* single;  // characters that match even alone
};
constexpr Run runs[] = {{" {2,}", false, 2, U""},
                        {" +", false, 1, U""},
                        {R"(\s+)", true, 1, U""},
                        {R"(\s{2,})", true, 2, U""},
                        {R"(\s{2,}|[\n\r\t])", true, 2, U"\n\r\t"}};

std::size_t run_length(const Run& run, const Characters& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (run.white ? is_white(text[end].value) : text[end].value == U' '))
    ++end;
  if (end - at >= run.least) return end - at;
  return std::u32string_view(run.single).find(text[at].value) != std::u32string_view::npos ? 1 : 0;
}

Normalizer replace_of(const json& part, const std::string& file) {
  const auto found = part.find("pattern");
  const json pattern = found != part.end() && found->is_object() ? *found : json::object();
  const std::u32string content = characters_in(text_or(part, "content", ""));
  if (const std::u32string text = characters_in(text_or(pattern, "String", "")); !text.empty())
    return [=](const Characters& all) {
      return replaced(all, content, [&](const Characters& in, std::size_t at) -> std::size_t {
        if (in.size() - at < text.size()) return 0;
        for (std::size_t i = 0; i < text.size(); ++i)
          if (in[at + i].value != text[i]) return 0;
        return text.size();
      });
    };
  const std::string expression = text_or(pattern, "Regex", "");
  for (const Run& run : runs)
    if (expression == run.pattern)
      return [=](const Characters& all) {
        return replaced(all, content, [&](const Characters& in, std::size_t at) {
          return run_length(run, in, at);
        });
      };
  throw Error(cat(file, ": its normalizer replaces ", printable(pattern.dump()),
                  ", which is not known here"),
              normalizer_hint);
}

Normalizer precompiled_of(const json& part, const std::string& file) {
  const auto table = from_base64(text_or(part, "precompiled_charsmap", ""));
  if (!table || table->empty())
    throw Error(cat(file, " has a Precompiled normalizer without its table"),
                "take the file that came with the weights");
  return read_precompiled(*table, file);
}

Normalizer bert_of(const json& part) {
  BertNormalizer rules{.clean_text = flag_of(part, "clean_text", true),
                       .chinese_characters = flag_of(part, "handle_chinese_chars", true),
                       .lower_case = flag_of(part, "lowercase", true)};
  rules.strip_accents = flag_of(part, "strip_accents", rules.lower_case);
  return rules;
}

Normalizer sequence_of(const json& part, const std::string& file) {
  std::vector<Normalizer> steps;
  if (const auto found = part.find("normalizers"); found != part.end() && found->is_array())
    for (const json& step : *found) steps.push_back(read_normalizer(step, file));
  return [steps](Characters text) {
    for (const Normalizer& step : steps) text = step(std::move(text));
    return text;
  };
}

Normalizer prepend_of(const json& part) {
  const std::u32string prefix = characters_in(text_or(part, "prepend", ""));
  return [=](Characters text) {
    if (text.empty()) return text;
    Characters before;
    for (const char32_t value : prefix) before.push_back({value, text[0].begin, text[0].end});
    text.insert(text.begin(), before.begin(), before.end());
    return text;
  };
}

}  // namespace

Normalizer read_normalizer(const json& normalizer, const std::string& file) {
  const json part = normalizer.is_object() ? normalizer : json::object();
  const std::string kind = text_or(part, "type", "");
  if (normalizer.is_null()) return [](Characters text) { return text; };
  if (kind == "Sequence") return sequence_of(part, file);
  if (kind == "BertNormalizer") return bert_of(part);
  if (kind == "Replace") return replace_of(part, file);
  if (kind == "Precompiled") return precompiled_of(part, file);
  if (kind == "Prepend") return prepend_of(part);
  if (kind == "Lowercase") return small_letters;
  if (kind == "StripAccents")
    return [](Characters text) {
      std::erase_if(text, [](const Character& c) { return is_any_mark(c.value); });
      return text;
    };
  if (kind == "Strip") {
    const bool left = flag_of(part, "strip_left", true), right = flag_of(part, "strip_right", true);
    return [=](Characters text) { return stripped(std::move(text), left, right); };
  }
  for (const auto& [form, compatibility, composes] : {std::tuple("NFD", false, false),
                                                      {"NFC", false, true},
                                                      {"NFKD", true, false},
                                                      {"NFKC", true, true}})
    if (kind == form)
      return [compatible = compatibility, joins = composes](const Characters& text) {
        const Characters parts = decomposed_text(text, compatible);
        return joins ? composed_text(parts) : parts;
      };
  throw Error(cat(file, ": its normalizer is of type ", kind.empty() ? "none" : printable(kind),
                  ", which is not known here"),
              normalizer_hint);
}

// Sorts combining marks after each letter by their combining class. Each mark keeps its own bytes.
Characters decomposed_text(const Characters& text, bool compatibility) {
  Characters out;
  out.reserve(text.size());
  for (const Character& c : text)
    for (const char32_t value :
         compatibility ? compatibly_decomposed(c.value) : decomposed(c.value))
      out.push_back({value, c.begin, c.end});
  const auto order = [](const Character& c) { return combining_class(c.value); };
  for (auto begin = out.begin(); begin != out.end();) {
    if (order(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, out.end(), [&](const Character& c) { return !order(c); });
    std::stable_sort(begin, end,
                     [&](const Character& a, const Character& b) { return order(a) < order(b); });
    begin = end;
  }
  return out;
}

// Unicode's canonical composition. A mark joins the last letter before it. This is blocked if a
// mark of the same or a higher class is between them.
Characters composed_text(const Characters& text) {
  Characters out;
  out.reserve(text.size());
  std::size_t starter = 0;
  bool has_starter = false;
  int last_class = 0;
  for (const Character& c : text) {
    const int own = combining_class(c.value);
    const bool is_next = has_starter && starter + 1 == out.size();
    if (has_starter && (is_next || (last_class < own && last_class != 0)))
      if (const char32_t both = composed(out[starter].value, c.value); both != 0) {
        out[starter] = {both, std::min(out[starter].begin, c.begin),
                        std::max(out[starter].end, c.end)};
        continue;
      }
    out.push_back(c);
    last_class = own;
    if (own == 0) {
      starter = out.size() - 1;
      has_starter = true;
    }
  }
  return out;
}

}  // namespace lockstep::dimabsa
