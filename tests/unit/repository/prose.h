// Sentences of comments and pages, as words_test.cpp counts them.
#pragma once

#include "core/base/text/text.h"

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Where the comment of a line of C++ begins, or npos. A comment behind code stands two spaces off.
inline std::size_t comment_at(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == line.npos || line.compare(first, 2, "//") == 0) return first;
  const std::size_t behind = line.rfind("  // ");
  return behind == line.npos ? behind : behind + 2;
}

// Comments of a C++ source, a paragraph each. A line continues the comment above it if both begin
// in the same column. Lines that are indented within a comment are examples and are left out.
inline std::vector<std::string> comments_of(const std::string& source) {
  std::vector<std::string> paragraphs;
  std::size_t open = std::string::npos;  // the column of the line above; npos: it has no comment
  for (const std::string& line : split(source, '\n')) {
    const std::size_t column = comment_at(line);
    const std::string text = column == line.npos ? "" : line.substr(column + 2);
    if (trim(text).empty()) {
      open = std::string::npos;
    } else if (!text.starts_with("   ")) {
      if (column != open || line.find_first_not_of(' ') != column) paragraphs.emplace_back();
      paragraphs.back() += " " + trim(text);
      open = column;
    }
  }
  return paragraphs;
}

// `text` with each `code` span as one word and each [text](link) as its text.
inline std::string without_marks(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '`' ? text.find('`', i + 1) : text.npos;
    if (end != text.npos) {
      plain += "Code";
      i = end;
    } else if (text[i] == ']' && i + 1 < text.size() && text[i + 1] == '(') {
      const std::size_t close = text.find(')', i);
      i = close == text.npos ? i : close;
    } else if (text[i] != '*' && text[i] != '[' && text[i] != ']') {
      plain += text[i];
    }
  }
  return plain;
}

// Prose of a page, a paragraph or an item of a list each. Left out are headings, code, tables, HTML
// and items that begin with an option.
inline std::vector<std::string> paragraphs_of(const std::string& page) {
  std::vector<std::string> paragraphs{""};
  bool is_code = false, is_left_out = false;
  for (const std::string& whole : split(page, '\n')) {
    const std::string line = trim(whole);
    if (line.starts_with("```")) is_code = !is_code;
    if (is_code || line.empty() || line.find_first_of("|#<`") == 0) {
      const bool goes_on = !is_code && line.starts_with("`") && !line.starts_with("```");
      if (!goes_on) {
        paragraphs.emplace_back();
        is_left_out = false;
        continue;
      }
    }
    const std::size_t mark = line.find_first_not_of("0123456789.");
    const bool is_item =
        line.starts_with("- ") || line.starts_with("* ") ||
        (mark != line.npos && mark > 1 && line[mark] == ' ' && line[mark - 1] == '.');
    if (is_item) {
      paragraphs.emplace_back();
      is_left_out = line.starts_with("- `");
    }
    if (!is_left_out) paragraphs.back() += " " + (is_item ? line.substr(line.find(' ')) : line);
  }
  std::erase_if(paragraphs, [](const std::string& text) { return trim(text).empty(); });
  return paragraphs;
}

// A sentence ends with one of ".?!", perhaps behind it a bracket or a quotation mark, before a
// space and whatever is no small letter.
inline std::vector<std::string> sentences_of(const std::string& paragraph) {
  const std::string text = trim(without_marks(paragraph));
  std::vector<std::string> sentences;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::string_view(".?!").find(text[i]) == std::string_view::npos) continue;
    std::size_t end = i + 1;
    while (end < text.size() && (text[end] == ')' || text[end] == '"')) ++end;
    const bool is_last = end == text.size();
    const bool is_end = is_last || (text[end] == ' ' && end + 1 < text.size() &&
                                    !std::islower(static_cast<unsigned char>(text[end + 1])));
    if (!is_end) continue;
    sentences.push_back(trim(text.substr(begin, end - begin)));
    begin = end;
  }
  if (const std::string rest = trim(text.substr(begin)); !rest.empty()) sentences.push_back(rest);
  return sentences;
}

inline int words_in(const std::string& sentence) {
  int words = 0;
  for (const std::string& word : split(sentence, ' '))
    for (const char c : word)
      if (std::isalnum(static_cast<unsigned char>(c))) {
        ++words;
        break;
      }
  return words;
}

// Whether a reader has to wait for the subject: "Of these the first.", "What is left stays." A
// question is none of them.
inline bool opens_late(const std::string& sentence) {
  const std::size_t first = sentence.find_first_not_of("(\"");
  if (first == sentence.npos || sentence.ends_with("?")) return false;
  const std::string_view text = std::string_view(sentence).substr(first);
  for (const std::string_view word : {"Of", "What", "Whoever", "Whose"})
    if (text.starts_with(word) && text.size() > word.size() && text[word.size()] == ' ')
      return true;
  return false;
}

inline bool says_of_which(const std::string& sentence) {
  return sentence.find("f which") != sentence.npos &&
         (sentence.find("of which") != sentence.npos || sentence.find("Of which") != sentence.npos);
}

}  // namespace lockstep
