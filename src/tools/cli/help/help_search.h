// The search of `lockstep help WORD …`. Symptoms, glossary words, other programs' names, options,
// recipes, presets, commands and guides are topics of one form.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

struct Topic {
  std::string title;               // "NCCL timeout", "stop.episodes, an option of the recipe NAME"
  std::vector<std::string> terms;  // its names: words and phrases
  std::vector<std::string> code;   // also found by this literal code: "model.cuda()"
  std::function<std::string(int width)> text;  // the title and the text
  // A flag of commands: found by its whole name, and by a part of it if nothing else matches.
  bool is_flag = false;
};

struct FoundTopics {
  std::vector<const Topic*> best;    // shown in full, the best first; if empty, only these:
  std::vector<const Topic*> others;  // others that have the words, or words near to them
};

// A term equal to the whole query comes first, ignoring case, spaces, dashes and the plural. Next
// comes literal code, then topics that have most of the words; code counts more. Topics with few of
// them are no answer. If no term matches, topics match whose text has the words side by side. The
// topics must outlive the answer.
FoundTopics topics_about(const std::vector<Topic>& all, const std::string& asked);

// The parts of a text between ` and `.
std::vector<std::string> code_in(std::string_view text);

}  // namespace lockstep::cli
