// Completes a word for the shell, from the command tables, the options of recipes and plugins, and
// existing runs.
#pragma once

#include "tools/cli/arguments.h"

#include <string>
#include <vector>

namespace lockstep::cli {

struct Candidate {
  std::string text;     // the candidate; ends with "=" if a value follows
  std::string meaning;  // may be empty
};

struct Completion {
  enum class Kind { words, files, program, nothing };
  Kind kind = Kind::nothing;
  std::size_t value_at = 0;  // where in the typed word the part begins that the texts replace
  std::vector<Candidate> candidates;  // for kind words; not filtered by the typed beginning
};

// words: those after `lockstep`; the last one is being typed and may be empty. Reads runs and
// remembered plugins, and starts no program.
Completion complete(const std::vector<Command>& commands, const std::vector<std::string>& words);

}  // namespace lockstep::cli
