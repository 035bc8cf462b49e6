// Implements `lockstep complete`. Completion scripts call it at each TAB. It is fast and changes
// nothing. It never fails, because a shell would show the error.
#include "core/base/text/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/help/completion_words.h"
#include "tools/cli/words/shell_line.h"

#include <algorithm>
#include <exception>
#include <optional>

namespace lockstep::cli {
namespace {

const char* word_of_kind(Completion::Kind kind) {
  switch (kind) {
    case Completion::Kind::words:
      return "words";
    case Completion::Kind::files:
      return "files";
    case Completion::Kind::program:
      return "program";
    case Completion::Kind::nothing:
      return "nothing";
  }
  return "";
}

// Lines for readline with the candidates that begin with the typed word.
std::string for_bash(const std::string& text, const std::string& breaks) {
  const ShellLine line = split_line(text, breaks);
  const Completion found = complete(all_commands(), {line.words.begin() + 1, line.words.end()});
  const std::string& typed = line.words.back();
  std::string lines;
  bool all_are_keys = true;
  for (const Candidate& candidate : found.candidates) {
    const std::string word = typed.substr(0, found.value_at) + candidate.text;
    if (!word.starts_with(typed)) continue;
    const std::optional<std::string> completed = completed_word(line, word);
    if (!completed) continue;
    lines += *completed + "\n";
    all_are_keys = all_are_keys && word.ends_with('=');
  }
  const bool are_keys = !lines.empty() && all_are_keys;
  return cat(are_keys ? "keys" : word_of_kind(found.kind), "\n", lines);
}

std::string for_others(const std::vector<std::string>& words) {
  const Completion found = complete(all_commands(), words);
  std::string text =
      cat(word_of_kind(found.kind), "\n", words.back().substr(0, found.value_at), "\n");
  for (const Candidate& candidate : found.candidates)
    text += cat(candidate.text, candidate.meaning.empty() ? "" : "\t", candidate.meaning, "\n");
  return text;
}

std::string completions_for(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "bash") return for_bash(words[1], words[2]);
  if (words.size() > 2 && words[1] == "--") return for_others({words.begin() + 2, words.end()});
  return "nothing\n";
}

int complete_main(const Parsed& parsed) {
  try {
    print_data(completions_for(parsed.program));
  } catch (const std::exception&) {
    print("nothing");
  }
  return 0;
}

}  // namespace

Command complete_command() {
  return {.name = "complete",
          .operands = "bash LINE BREAKS | zsh|fish -- WORD …",
          .summary = "what completion offers",
          .flags = {},
          .takes_program = true,
          .run = complete_main,
          .hidden = true};
}

}  // namespace lockstep::cli
