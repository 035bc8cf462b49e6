// Symptoms that users see and search for, with cause and remedy: the guide docs/guide/symptoms.md.
// `lockstep help WORD …` shows matching ones.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::cli {

struct Symptom {
  std::string title, also;                                 // also: other names for it
  std::vector<std::pair<std::string, std::string>> parts;  // "Cause" and the text after it
};

// The sections of the page, in order, without Markdown marks except those of code.
std::vector<Symptom> symptoms_in(std::string_view page);

// The title, its other names, and the parts.
std::string symptom_text(const Symptom& symptom, int width);

// Changes "[a title](page.md#part)" to "a title: docs/guide/page.md", or to the page's path in an
// installed program. Removes "**".
std::string without_marks(std::string_view text);

extern const std::string_view symptoms_page;  // the guide's text

}  // namespace lockstep::cli
