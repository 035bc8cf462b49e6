#include "recipes/dimabsa/tokens/bert_normalizer.h"

#include <algorithm>

#include "core/base/text/utf8.h"

namespace lockstep::dimabsa {
namespace {

Characters cleaned(const Characters& text) {
  Characters out;
  out.reserve(text.size());
  for (Character c : text) {
    if (c.value == 0 || c.value == replacement_character || is_control(c.value)) continue;
    if (is_white(c.value)) c.value = ' ';
    out.push_back(c);
  }
  return out;
}

Characters spaced(const Characters& text) {
  Characters out;
  out.reserve(text.size());
  for (const Character& c : text) {
    if (!is_chinese(c.value)) {
      out.push_back(c);
      continue;
    }
    out.push_back({' ', c.begin, c.end});
    out.push_back(c);
    out.push_back({' ', c.begin, c.end});
  }
  return out;
}

// A character in the decomposition of a text.
struct Part {
  char32_t value;
  int order;   // the combining class
  bool first;  // whether it is the first that comes from its source character
};

// Sorts combining marks after each letter by their combining class.
void reorder(std::vector<Part>& parts) {
  for (auto begin = parts.begin(); begin != parts.end();) {
    if (begin->order == 0) {
      ++begin;
      continue;
    }
    const auto end =
        std::find_if(begin, parts.end(), [](const Part& part) { return part.order == 0; });
    std::stable_sort(begin, end, [](const Part& a, const Part& b) { return a.order < b.order; });
    begin = end;
  }
}

// All characters that come from one character get its bytes. If sorting moves marks, bytes are
// assigned by position and not by character, as in `tokenizers`.
Characters without_accents(const Characters& text) {
  std::vector<Part> parts;
  parts.reserve(text.size());
  for (const Character& c : text) {
    bool first = true;
    for (const char32_t value : decomposed(c.value)) {
      parts.push_back({value, combining_class(value), first});
      first = false;
    }
  }
  reorder(parts);
  Characters out;
  out.reserve(parts.size());
  std::size_t place = 0;  // one past the last source character that was begun
  for (const Part& part : parts) {
    if (part.first || place == 0) ++place;
    const Character& source = text[place - 1];
    if (!is_mark(part.value)) out.push_back({part.value, source.begin, source.end});
  }
  return out;
}

Characters lowered(const Characters& text) {
  Characters out;
  out.reserve(text.size());
  for (const Character& c : text)
    for (const char32_t value : lower(c.value)) out.push_back({value, c.begin, c.end});
  return out;
}

}  // namespace

Characters BertNormalizer::operator()(Characters text) const {
  if (clean_text) text = cleaned(text);
  if (chinese_characters) text = spaced(text);
  if (strip_accents) text = without_accents(text);
  if (lower_case) text = lowered(text);
  return text;
}

Characters characters_within(const Characters& text, Span span) {
  const auto at = [&](std::size_t i) { return text.begin() + static_cast<std::ptrdiff_t>(i); };
  return {at(span.begin), at(span.end)};
}

std::vector<Span> bert_words(const Characters& text) {
  std::vector<Span> words;
  bool open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool alone = is_punctuation(text[i].value);
    if (alone || is_white(text[i].value)) {
      open = false;
      if (alone) words.push_back({i, i + 1});
      continue;
    }
    if (!open) words.push_back({i, i});
    open = true;
    words.back().end = i + 1;
  }
  return words;
}

}  // namespace lockstep::dimabsa
