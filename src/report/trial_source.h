// What a word on the command line of a comparison means: a run, a batch, a log of another program,
// a run of an experiment tracker, a file of facts.
#pragma once

#include "report/facts.h"

#include <filesystem>
#include <string>

namespace lockstep {

// A path, STORE#RUN of an experiment tracker, or the name of a run or batch in the folder `root`.
// Throws Error, which says what it was taken for, or names the nearest.
Trial read_trial(const std::string& word, const std::filesystem::path& root);

}  // namespace lockstep
