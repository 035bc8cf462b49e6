// Reads gold and predictions, scores them, and reports the details.
#include "recipes/dimabsa/sentences/scores/score_files.h"

#include <cmath>
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/columns.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/files/find_predictions.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/files/sentence_errors.h"
#include "recipes/dimabsa/sentences/scores/breakdown.h"
#include "recipes/dimabsa/sentences/scores/score_list.h"

namespace lockstep::dimabsa {
namespace {

using SayLine = std::function<void(const std::string&)>;

WantedPredictions wanted_by(const ScoreFilesOptions& options) {
  WantedPredictions wanted{options.task, options.language, options.domain};
  if (const auto name = parse_file_name(options.gold)) {
    if (wanted.language.empty()) wanted.language = name->language;
    if (wanted.domain.empty()) wanted.domain = name->domain;
  }
  return wanted;
}

void say_ids(const Aligned& aligned, std::size_t gold, const SayLine& say) {
  if (!aligned.missing.empty())
    say(cat(aligned.missing.size(), " of ", gold,
            " sentences have no prediction; their tuples count as missed, first: ",
            printable(aligned.missing[0])));
  if (!aligned.unknown.empty())
    say(cat(aligned.unknown.size(), " predicted ",
            aligned.unknown.size() == 1 ? "ID is" : "IDs are",
            " not in the gold file; their tuples count as spurious, first: ",
            printable(aligned.unknown[0])));
}

std::string text_of(const Cell& cell) {
  if (const auto* const text = std::get_if<std::string>(&cell)) return printable(*text);
  if (const auto* const count = std::get_if<std::int64_t>(&cell)) return std::to_string(*count);
  if (const auto* const number = std::get_if<double>(&cell)) return fixed(*number, 4);
  return "-";
}

void say_table(const ItemTable& table, const SayLine& say) {
  std::vector<std::vector<std::string>> rows{table.columns};
  for (const std::vector<Cell>& row : table.rows) {
    rows.emplace_back();
    for (const Cell& cell : row) rows.back().push_back(text_of(cell));
  }
  std::string text = columns(rows);
  if (text.ends_with('\n')) text.pop_back();
  for (const std::string& line : split(text, '\n')) say(line);
}

void say_intervals(Task task, const Aligned& aligned, int resamples, const SayLine& say) {
  if (resamples <= 0) return;
  for (const auto& [name, interval] : score_intervals(
           task, aligned, {.resamples = resamples, .method = BootstrapMethod::percentile}))
    say(cat(name, " ", fixed(interval.estimate, 4), ", 95 % interval over sentences ",
            fixed(interval.low, 4), " to ", fixed(interval.high, 4)));
}

std::vector<GroupScore> groups_of(Task task, const Aligned& aligned) {
  std::vector<GroupScore> groups = by_null(task, aligned);
  for (GroupScore& group : by_category(task, aligned)) groups.push_back(std::move(group));
  return groups;
}

}  // namespace

std::vector<Score> score_files(const ScoreFilesOptions& options, const ScoreContext& context) {
  const SayLine say = context.say ? context.say : [](const std::string&) {};
  const TemporaryDirectory scratch;
  const auto path = find_predictions(context.predictions, wanted_by(options), scratch.path());
  const std::string name = path.parent_path() == scratch.path()
                               ? (context.predictions / path.filename()).string()
                               : path.string();
  const SentenceFile gold = read_sentences(
      options.gold,
      {.task = options.task, .not_in_text = NotInText::keep, .out_of_range = options.out_of_range});
  const SentenceFile predicted =
      parse_predictions(read_input(path, list_bytes), name, options.task);
  for (const SentenceFile* const file : {&gold, &predicted})
    for (const std::string& warning : file->warnings) say(warning);
  const Aligned aligned = align(gold.sentences, predicted.sentences);
  if (aligned.unknown.size() == predicted.sentences.size())
    throw Error(cat("no ID of ", name, " is in ", options.gold.string()),
                "are both of the same language, domain and split?");
  say_ids(aligned, gold.sentences.size(), say);
  const Scores scores = score(options.task, gold.sentences, predicted.sentences);
  say_intervals(options.task, aligned, options.resamples, say);
  say_table(group_table(options.task, groups_of(options.task, aligned)), say);
  std::vector<Score> list = score_list(options.task, scores);
  list.push_back({.name = "sentences", .value = static_cast<double>(gold.sentences.size())});
  return list;
}

}  // namespace lockstep::dimabsa
