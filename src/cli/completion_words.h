// What a shell offers for the word that is being typed: of the command tables, of the options of
// recipes and plugins, of the runs that there are.
#pragma once

#include "cli/arguments.h"

#include <string>
#include <vector>

namespace lockstep::cli {

struct Candidate {
  std::string text;     // what may stand there; ends with "=" where a value follows
  std::string meaning;  // may be empty
};

struct Completion {
  enum class Kind { words, files, program, nothing };
  Kind kind = Kind::nothing;
  std::size_t value_at = 0;  // of the word being typed: where what the texts replace begins
  std::vector<Candidate> candidates;  // of kind words, whatever was typed of them
};

// words: those after `lockstep`; the last is being typed and may be empty. Reads runs and what is
// remembered of plugins; runs nothing.
Completion complete(const std::vector<Command>& commands, const std::vector<std::string>& words);

}  // namespace lockstep::cli
