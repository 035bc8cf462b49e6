// Finds the file with the predictions that a user means.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct WantedPredictions {
  Task task = Task::quadruplets;
  std::string language, domain;  // empty matches any
};

// Returns the name of the file that holds the wanted predictions. names: the files to choose from.
// Names have / between folders. Only .jsonl files can be chosen. Files whose name or folder states
// another task, language or domain are excluded. Among the rest, files in a folder subtask_N are
// preferred, then files whose names begin with "pred_". Throws Error unless exactly one file is
// left. The Error names these files and `where`.
std::string choose_predictions(const std::vector<std::string>& names,
                               const WantedPredictions& wanted, const std::string& where);

// Returns the file with the wanted predictions. predictions: a file, a folder, or a zip archive.
// From an archive, the file is extracted into the folder `scratch`. Throws Error.
std::filesystem::path find_predictions(const std::filesystem::path& predictions,
                                       const WantedPredictions& wanted,
                                       const std::filesystem::path& scratch);

// Returns the tasks for which there are predictions. The tasks follow from the names of files and
// folders in `predictions`. If no name states a task and there is only one file, the keys of its
// first line decide. Returns an empty list if the tasks cannot be found out. Throws Error if a file
// or an archive cannot be read.
std::vector<Task> tasks_of_predictions(const std::filesystem::path& predictions);

}  // namespace lockstep::dimabsa
