// Searches the help topics for `lockstep help WORD …`. A topic is a symptom, a glossary word,
// another program's name, an option, a recipe, a preset, a command or a guide.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::cli {

struct Topic {
  std::string title;               // "NCCL timeout", "stop.episodes, an option of the recipe NAME"
  std::vector<std::string> terms;  // words and phrases by which the topic is found
  std::vector<std::string> code;   // literal code by which the topic is also found: "model.cuda()"
  std::function<std::string(int width)> text;  // returns the printed help, wrapped to `width`
  // Whether the topic is a command-line flag, such as --devices, or a key of job files. Such a
  // topic is found by its whole name, and by a part of it if nothing else matches.
  bool is_flag = false;
};

struct FoundTopics {
  // topics to show in full, the best first; if there are none, only the titles of `others` are
  // shown
  std::vector<const Topic*> best;
  std::vector<const Topic*> others;  // other topics that contain the words, or similar words
};

// Finds the topics for a query. Topics with a term that equals the whole query come first; case,
// spaces, dashes and the plural are ignored. Topics whose `code` matches the query come next.
// Topics that contain most of the words follow. A word of the query that looks like code counts
// more than another word. Topics with only a few of the words are not returned. If `best` would be
// empty, it holds the topics that have the words side by side in their text. The topics must
// outlive the result.
FoundTopics topics_about(const std::vector<Topic>& all, const std::string& asked);

// Returns the parts of a text between backquotes.
std::vector<std::string> code_in(std::string_view text);

}  // namespace lockstep::cli
