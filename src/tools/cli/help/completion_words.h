// Completes a word for the shell. Candidates come from the command tables, the options of recipes
// and plugins, and existing runs.
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
  // where the part of the typed word begins that the candidates replace, in bytes
  std::size_t value_at = 0;
  std::vector<Candidate> candidates;  // only for Kind::words; not filtered by the typed beginning
};

// words: the words after `lockstep`; the last one is being typed and may be empty. Reads runs and
// the stored descriptions of plugins. Starts no program.
Completion complete(const std::vector<Command>& commands, const std::vector<std::string>& words);

}  // namespace lockstep::cli
