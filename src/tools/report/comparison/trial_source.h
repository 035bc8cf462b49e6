// Resolves a word on a comparison's command line: a run, a batch, another program's log, a run of
// an experiment tracker, or a file of facts.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <string>

namespace lockstep {

// A path, STORE#RUN of an experiment tracker, or the name of a run or batch in the folder `root`.
// Throws Error, which says what the word was taken for, or names the nearest.
Trial read_trial(const std::string& word, const std::filesystem::path& root);

}  // namespace lockstep
