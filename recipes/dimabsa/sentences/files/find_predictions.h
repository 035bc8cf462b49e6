// Finds the file of predictions in a folder or archive that a user names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct WantedPredictions {
  Task task = Task::quadruplets;
  std::string language, domain;  // empty: any language, any domain
};

// Returns the name of the file that contains the wanted predictions. names: the files to choose
// from, as paths with / between folders. where: the folder or archive, for messages. Only .jsonl
// files can be chosen. Files whose name or folder states a task, language or domain that is not
// wanted are excluded. If some of the remaining files are in a folder subtask_N, only these are
// kept. Then, if some names begin with "pred_", only files with such names are kept. Throws Error
// unless exactly one file is left. The Error names these files and `where`.
std::string choose_predictions(const std::vector<std::string>& names,
                               const WantedPredictions& wanted, const std::string& where);

// Returns the file with the wanted predictions. predictions: a file, a folder, or a zip archive.
// From an archive, the file is extracted into the folder `scratch`. Throws Error as
// choose_predictions does. Also throws Error if the archive cannot be read.
std::filesystem::path find_predictions(const std::filesystem::path& predictions,
                                       const WantedPredictions& wanted,
                                       const std::filesystem::path& scratch);

// Returns the tasks for which `predictions` contains predictions. predictions: a file, a folder, or
// a zip archive. The names of its files and folders state the tasks. If no name states a task and
// there is only one file, the keys of its first line decide. Returns an empty list if neither the
// names nor the keys state a task. Throws Error if a file or an archive cannot be read.
std::vector<Task> tasks_of_predictions(const std::filesystem::path& predictions);

}  // namespace lockstep::dimabsa
