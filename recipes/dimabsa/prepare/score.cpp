// Predictions in files against gold.
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "recipes/dimabsa/prepare/prepare.h"
#include "recipes/dimabsa/sentences/file_name.h"
#include "recipes/dimabsa/sentences/score_files.h"

namespace lockstep::dimabsa {
namespace {

// As it is asked for, else as the name of gold says, else the only one whose folder is there.
Task task_of(const DimabsaOptions& options, const std::filesystem::path& predictions) {
  if (options.table.is_given("task")) return options.task();
  if (const auto name = parse_file_name(options.data.path); name && name->task) return *name->task;
  std::optional<Task> only;
  int found = 0;
  std::error_code ignored;
  for (const Task task : {Task::aspects, Task::triplets, Task::quadruplets})
    if (std::filesystem::is_directory(predictions / cat("subtask_", number_of(task)), ignored)) {
      only = task;
      ++found;
    }
  return found == 1 ? *only : options.task();
}

}  // namespace

std::vector<Score> score_predictions(const DimabsaOptions& options, const ScoreContext& context) {
  if (options.data.path.empty())
    throw Error("data.path does not say what the predictions are compared with",
                "lockstep score dimabsa predictions=DIR data.path=gold.jsonl");
  return score_files({.task = task_of(options, context.predictions),
                      .gold = options.data.path,
                      .language = options.data.language,
                      .domain = options.data.domain},
                     context);
}

}  // namespace lockstep::dimabsa
