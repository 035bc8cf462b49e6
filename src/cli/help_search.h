// What `lockstep help WORD …` searches: symptoms, words of the glossary, names of other programs,
// options, recipes, presets, commands and guides, as topics of one form.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

struct Topic {
  std::string title;               // "NCCL timeout", "stop.episodes, an option of fewshot"
  std::vector<std::string> terms;  // what it is called: words and phrases
  std::vector<std::string> code;   // literal code beside them: "model.cuda()"
  std::function<std::string(int width)> text;  // the title and what is to be known
  // A flag of commands: found by all of its name, and by a part of it where nothing else is.
  bool is_flag = false;
};

struct FoundTopics {
  std::vector<const Topic*> best;    // to be shown in full, the best first; none: only these:
  std::vector<const Topic*> others;  // what else has the words, or of which some words are near
};

// A term that is all of what was asked comes first, however either is written: small or capital
// letters, one word or several, with dashes, in the plural. Then literal code, then topics that
// have most of the words, of which code counts more. Those that have few of them are no answer. If
// no term is one, topics whose text has the words side by side are. The topics must outlive the
// answer.
FoundTopics topics_about(const std::vector<Topic>& all, const std::string& asked);

// What stands between ` and ` in a text.
std::vector<std::string> code_in(std::string_view text);

}  // namespace lockstep::cli
