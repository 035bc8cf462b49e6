// Predictions in files against gold.
#include "recipes/dimabsa/sentences/score.h"

#include <cmath>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "recipes/dimabsa/prepare/prepare.h"
#include "recipes/dimabsa/sentences/reader.h"

namespace lockstep::dimabsa {
namespace {

namespace fs = std::filesystem;

// The only file of predictions in a folder of outputs, or that of the gold's language and domain.
fs::path predictions_in(const DimabsaOptions& options, const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  const fs::path named = path / options.prediction_file();
  if (fs::exists(named, ignored)) return named;
  std::vector<fs::path> found;
  for (const fs::path& folder : {path, path / cat("subtask_", options.task_number)})
    for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
         entry.increment(ignored))
      if (entry->path().extension() == ".jsonl") found.push_back(entry->path());
  if (found.size() == 1) return found[0];
  throw Error(cat(path.string(), " holds ", found.empty() ? "no" : "several",
                  " files of predictions, and none is ", options.prediction_file()),
              "name the file: predictions=FILE");
}

}  // namespace

std::vector<lockstep::Score> score_predictions(const DimabsaOptions& options,
                                               const ScoreContext& context) {
  if (options.data.path.empty())
    throw Error("data.path does not say what the predictions are compared with",
                "lockstep score dimabsa predictions=DIR data.path=gold.jsonl");
  const Task task = options.task();
  const SentenceFile gold = read_sentences(
      options.data.path, {.task = task, .categories = {}, .not_in_text = NotInText::keep});
  const SentenceFile predicted =
      read_predictions(predictions_in(options, context.predictions), task);
  for (const auto* file : {&gold, &predicted})
    for (const std::string& line : file->warnings) context.say(line);
  const Aligned aligned = align(gold.sentences, predicted.sentences);
  if (!aligned.missing.empty())
    context.say(cat("warning: ", aligned.missing.size(), " sentences have no prediction: ",
                    aligned.missing[0], aligned.missing.size() > 1 ? ", …" : ""));
  if (!aligned.unknown.empty())
    context.say(cat("warning: ", aligned.unknown.size(),
                    " predictions have an ID that is not in the gold file: ", aligned.unknown[0],
                    aligned.unknown.size() > 1 ? ", …" : ""));
  const Scores scores = score(task, gold.sentences, predicted.sentences);
  if (task == Task::aspects)
    return {{.name = "rmse_va", .value = scores.va.rmse(), .lower_is_better = true},
            {.name = "pearson_v", .value = scores.va.pearson_valence()},
            {.name = "pearson_a", .value = scores.va.pearson_arousal()}};
  return {{.name = "cf1", .value = scores.tuples.c_f1()},
          {.name = "cprecision", .value = scores.tuples.c_precision()},
          {.name = "crecall", .value = scores.tuples.c_recall()},
          {.name = "f1", .value = scores.tuples.f1()},
          {.name = "precision", .value = scores.tuples.precision()},
          {.name = "recall", .value = scores.tuples.recall()}};
}

}  // namespace lockstep::dimabsa
