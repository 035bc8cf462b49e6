// Compares predictions in files with gold.
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/prepare/prepare.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/files/find_predictions.h"
#include "recipes/dimabsa/sentences/scores/score_files.h"

namespace lockstep::dimabsa {
namespace {

// The task from the options. If they do not set it, from the name of the gold file, or else from
// the predictions.
Task task_of(const DimabsaOptions& options, const std::filesystem::path& predictions) {
  if (options.table.is_given("task")) return options.task();
  if (const auto name = parse_file_name(options.data.path); name && name->task) return *name->task;
  const std::vector<Task> found = tasks_of_predictions(predictions);
  if (found.size() == 1) return found[0];
  std::vector<std::string> numbers;
  for (const Task task : found) numbers.push_back(cat(number_of(task)));
  throw Error(
      found.empty()
          ? cat(predictions.string(), " does not say of which task its predictions are")
          : cat(predictions.string(), " holds predictions of the tasks ", join(numbers, " and ")),
      cat("say which one is to be scored: task=", found.empty() ? "3" : numbers.back()));
}

}  // namespace

std::vector<Score> score_predictions(const DimabsaOptions& options, const ScoreContext& context) {
  if (options.data.path.empty())
    throw Error("data.path does not say what the predictions are compared with",
                "lockstep score dimabsa predictions=DIR data.path=gold.jsonl");
  return score_files(
      {.task = task_of(options, context.predictions),
       .gold = options.data.path,
       .language = options.data.language,
       .domain = options.data.domain,
       .out_of_range = options.table.is_given("data.out_of_range") ? options.data.out_of_range
                                                                   : OutOfRange::keep},
      context);
}

}  // namespace lockstep::dimabsa
