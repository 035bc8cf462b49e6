// Reads the guide docs/guide/symptoms.md: symptoms that users see and search for, with cause and
// remedy. `lockstep help WORD …` shows the symptoms that match.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::cli {

struct Symptom {
  std::string title, also;                                 // also: other names for the symptom
  std::vector<std::pair<std::string, std::string>> parts;  // "Cause" and the text after it
};

// Returns the sections of the page in order. Markdown marks are removed, except the backquotes of
// code.
std::vector<Symptom> symptoms_in(std::string_view page);

// Returns the title, the other names and the parts as text.
std::string symptom_text(const Symptom& symptom, int width);

// Replaces each link "[a title](page.md#part)" by "a title: docs/guide/page.md". In an installed
// program, the path of the installed page is used. Removes "**".
std::string without_marks(std::string_view text);

extern const std::string_view symptoms_page;  // the guide's text

}  // namespace lockstep::cli
