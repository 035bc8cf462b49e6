// Reads the trial that a word on a command line names. It may be a run, a batch, another program's
// log, a run of an experiment tracker, or a file of facts.
#pragma once

#include "tools/report/facts/facts.h"

#include <filesystem>
#include <string>

namespace lockstep {

// word: a path, STORE#RUN of an experiment tracker, or the name of a run or batch in the folder
// `root`. Throws Error if the word names no such trial, or if the trial cannot be read. The error
// says how the word was read, or suggests the nearest name.
Trial read_trial(const std::string& word, const std::filesystem::path& root);

}  // namespace lockstep
