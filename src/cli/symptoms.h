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

// Those with most of the words in their title or in what else they are called, those with more of
// them in the title first. A word stands for all that begin with it. Empty where none has any.
std::vector<Symptom> symptoms_about(const std::vector<Symptom>& all, const std::string& words);

// What `lockstep help WORD …` prints: the first few of them in full, and the titles of the others.
std::string help_on(const std::vector<Symptom>& found, int width);

extern const std::string_view symptoms_page;  // the guide's text

}  // namespace lockstep::cli
