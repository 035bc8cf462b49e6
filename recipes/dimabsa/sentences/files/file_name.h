// Reads and makes names of files: LANG_DOMAIN_SPLIT_taskN.jsonl, pred_LANG_DOMAIN.jsonl.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct FileName {
  std::string language, domain;  // "eng", "restaurant"
  std::string split;             // "train", "dev", "test"; "pred", "gold"; "" if it says none
  std::optional<Task> task;      // "alltasks" and names without it: none
};

// Parses a name that begins with a language (three lower-case letters, ptbr or ptmz) and a domain,
// after an optional "pred_" or "gold_". Nothing for any other name. Nothing also if it has neither
// a split nor a task.
std::optional<FileName> parse_file_name(const std::filesystem::path& path);

// "subtask_3/pred_eng_restaurant.jsonl", as in submissions.
std::string prediction_name(Task task, const std::string& language, const std::string& domain);

// 1, 2, 3.
int number_of(Task task);

}  // namespace lockstep::dimabsa
