// Parses and makes the file names of the shared task: LANG_DOMAIN_SPLIT_taskN.jsonl and
// pred_LANG_DOMAIN.jsonl.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct FileName {
  std::string language, domain;  // such as "eng" and "restaurant"
  std::string split;             // for example "train", "dev" or "gold"; empty if not in the name
  std::optional<Task> task;      // no value for "alltasks", or if the name states no task
};

// Parses a file name. After an optional "pred_" or "gold_", it must begin with a language and a
// domain. A language is three lower-case letters, "ptbr" or "ptmz". Returns no value for any other
// name, and for names that state neither a split nor a task.
std::optional<FileName> parse_file_name(const std::filesystem::path& path);

// Returns, for example, "subtask_3/pred_eng_restaurant.jsonl", which is the name in submissions.
std::string prediction_name(Task task, const std::string& language, const std::string& domain);

// Returns 1, 2 or 3.
int number_of(Task task);

}  // namespace lockstep::dimabsa
