#include "cli/symptoms.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/cells.h"
#include "base/text.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view guide_folder = "docs/guide/";

// "[a title](page.md#part)" becomes "a title: docs/guide/page.md", and "**" nothing.
std::string without_marks(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t middle = text.find("](");
    const std::size_t end = text.front() == '[' ? text.find(')') : text.npos;
    if (end != text.npos && middle < end) {
      const std::string_view address = text.substr(middle + 2, end - middle - 2);
      plain +=
          cat(text.substr(1, middle - 1), ": ", guide_folder, address.substr(0, address.find('#')));
      text.remove_prefix(end + 1);
    } else if (text.starts_with("**")) {
      text.remove_prefix(2);
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

// Small letters, digits and underscores are words; all else parts them.
std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0 || c == '_' || letter >= 0x80)
      words.back() += static_cast<char>(std::tolower(letter));
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Words that say nothing of a symptom, unless there are no others.
std::vector<std::string> telling_words(const std::string& text) {
  static const std::set<std::string> small{"a",  "an", "and", "for", "how", "i",    "in", "is",
                                           "it", "my", "of",  "on",  "the", "what", "to", "with"};
  const std::vector<std::string> all = words_in(text);
  std::vector<std::string> telling;
  std::copy_if(all.begin(), all.end(), std::back_inserter(telling),
               [](const std::string& word) { return !small.contains(word); });
  return telling.empty() ? all : telling;
}

// How many of the words a text has. Of short ones nothing else begins with them by chance.
std::size_t count_in(const std::string& text, const std::vector<std::string>& words) {
  constexpr std::size_t shortest_beginning = 3;
  const std::vector<std::string> there = words_in(text);
  return static_cast<std::size_t>(
      std::count_if(words.begin(), words.end(), [&](const std::string& word) {
        return std::any_of(there.begin(), there.end(), [&](const std::string& one) {
          return one == word || (word.size() >= shortest_beginning && one.starts_with(word));
        });
      }));
}

void add_line(Symptom& symptom, std::string_view line) {
  constexpr std::string_view also = "Also: ", part = "- **";
  if (line.starts_with(also)) {
    symptom.also = without_marks(line.substr(also.size()));
  } else if (line.starts_with(part)) {
    const std::size_t end = line.find(".** ");
    if (end == line.npos) return;
    symptom.parts.emplace_back(line.substr(part.size(), end - part.size()), line.substr(end + 4));
  } else if (line.starts_with("  ") && !symptom.parts.empty()) {
    symptom.parts.back().second += cat(" ", trim(std::string(line)));
  }
}

std::string symptom_text(const Symptom& symptom, int width) {
  std::string text = symptom.title + "\n" + hang_cells("  Also: ", symptom.also, width);
  for (const auto& [name, what] : symptom.parts)
    text += hang_cells(cat("  ", name, ": "), what, width);
  return text;
}

}  // namespace

std::vector<Symptom> symptoms_in(std::string_view page) {
  constexpr std::string_view heading = "## ";
  std::vector<Symptom> all;
  for (const std::string& line : split(std::string(page), '\n')) {
    if (line.starts_with(heading))
      all.push_back({.title = line.substr(heading.size()), .also = {}, .parts = {}});
    else if (!all.empty())
      add_line(all.back(), line);
  }
  for (Symptom& symptom : all)
    for (auto& [name, what] : symptom.parts) what = without_marks(what);  // links cross lines
  return all;
}

std::vector<Symptom> symptoms_about(const std::vector<Symptom>& all, const std::string& words) {
  const std::vector<std::string> wanted = telling_words(words);
  const auto count = [&](const Symptom& one) {
    return count_in(one.title + " " + one.also, wanted);
  };
  std::size_t most = 0;
  for (const Symptom& one : all) most = std::max(most, count(one));
  std::vector<Symptom> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Symptom& one) { return most > 0 && count(one) == most; });
  std::stable_sort(found.begin(), found.end(), [&](const Symptom& a, const Symptom& b) {
    return count_in(a.title, wanted) > count_in(b.title, wanted);
  });
  return found;
}

std::string help_on(const std::vector<Symptom>& found, int width) {
  constexpr std::size_t most_in_full = 3;
  std::string text;
  std::vector<std::string> others;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i < most_in_full) text += (i > 0 ? "\n" : "") + symptom_text(found[i], width);
    if (i >= most_in_full) others.push_back(found[i].title);
  }
  if (!others.empty()) text += "\n" + hang_cells("There too: ", join(others, "; "), width);
  return text + cat("\nAll symptoms: ", guide_folder, "symptoms.md\n");
}

}  // namespace lockstep::cli
