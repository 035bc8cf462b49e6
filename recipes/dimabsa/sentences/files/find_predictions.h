// Finds the file with the predictions that a user means.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct WantedPredictions {
  Task task = Task::quadruplets;
  std::string language, domain;  // "": any
};

// Chooses among `names`, which have / between folders as in a submission. First choice: a name that
// ends with subtask_N/pred_LANG_DOMAIN.jsonl. Second: one that ends with pred_LANG_DOMAIN.jsonl
// outside the folder of another task. Third: the only jsonl file that could be meant. Throws Error
// that names the files that exist, and `where`.
std::string choose_predictions(const std::vector<std::string>& names,
                               const WantedPredictions& wanted, const std::string& where);

// predictions: a file, a folder, or a zip archive, from which the file is extracted into `scratch`.
// Throws Error.
std::filesystem::path find_predictions(const std::filesystem::path& predictions,
                                       const WantedPredictions& wanted,
                                       const std::filesystem::path& scratch);

// The tasks of the predictions. They follow from the folders and names of the path, or of the files
// in it. If these do not tell, they follow from the key of the first line of the only file. Empty
// if nothing tells them. Throws Error if a file or an archive cannot be read.
std::vector<Task> tasks_of_predictions(const std::filesystem::path& predictions);

}  // namespace lockstep::dimabsa
