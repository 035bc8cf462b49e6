// What people see and search for, with its cause and what to do: the guide docs/guide/symptoms.md,
// of which `lockstep help WORD …` shows what fits.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::cli {

struct Symptom {
  std::string title, also;                                 // also: what else it is called
  std::vector<std::pair<std::string, std::string>> parts;  // "Cause" and what stands behind it
};

// The sections of the page, in its order, without marks of Markdown but those of code.
std::vector<Symptom> symptoms_in(std::string_view page);

// A title, what else it is called, and the parts.
std::string symptom_text(const Symptom& symptom, int width);

// "[a title](page.md#part)" becomes "a title: docs/guide/page.md", or where the program is
// installed the page there; "**" becomes nothing.
std::string without_marks(std::string_view text);

extern const std::string_view symptoms_page;  // the guide's text

}  // namespace lockstep::cli
