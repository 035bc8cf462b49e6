// The search of `lockstep help WORD …`. A Topic is a symptom, glossary word, other program's name,
// option, recipe, preset, command or guide.
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
  // Whether it is a flag of commands. A flag is found by its whole name, and by a part of it if
  // nothing else matches.
  bool is_flag = false;
};

struct FoundTopics {
  // shown in full, the best first; if empty, only `others` are shown
  std::vector<const Topic*> best;
  std::vector<const Topic*> others;  // others that contain the words, or words near to them
};

// First come topics with a term that equals the whole query, ignoring case, spaces, dashes and the
// plural. Next come those with literal code, and then those that have most of the words, where code
// counts more. Topics with only a few of the words are not returned. If no term matches, topics
// match whose text has the words side by side. The topics must outlive the answer.
FoundTopics topics_about(const std::vector<Topic>& all, const std::string& asked);

// The parts of a text between ` and `.
std::vector<std::string> code_in(std::string_view text);

}  // namespace lockstep::cli
