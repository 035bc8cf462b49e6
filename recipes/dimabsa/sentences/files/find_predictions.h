// Which file holds the predictions that a user means.
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

// Chooses the name that is meant. names: as in a submission, with / between folders. It ends with
// subtask_N/pred_LANG_DOMAIN.jsonl, else with pred_LANG_DOMAIN.jsonl outside the folder of another
// task, else it is the only jsonl file that could be. Throws Error that names those there are, and
// `where`.
std::string choose_predictions(const std::vector<std::string>& names,
                               const WantedPredictions& wanted, const std::string& where);

// predictions: a file, a folder, or a zip archive, from which the file is extracted into `scratch`.
// Throws Error.
std::filesystem::path find_predictions(const std::filesystem::path& predictions,
                                       const WantedPredictions& wanted,
                                       const std::filesystem::path& scratch);

// The tasks that the predictions are of. They follow from the folders and names of the path, or of
// the files in it. If these say nothing, they follow from the key of the first line of the only
// file. Empty: nothing says it. Throws Error if a file or an archive cannot be read.
std::vector<Task> tasks_of_predictions(const std::filesystem::path& predictions);

}  // namespace lockstep::dimabsa
