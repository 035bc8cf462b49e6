// Makes tables of errors.
#include "recipes/dimabsa/sentences/files/sentence_errors.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {
namespace {

Cell number_or_nothing(double value) {
  return std::isfinite(value) ? Cell(value) : Cell(std::monostate{});
}

// The tuples that are in no match.
std::string unmatched(Task task, const std::vector<Tuple>& tuples,
                      const std::vector<Match>& matches, std::size_t Match::*place) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < tuples.size(); ++i)
    if (std::none_of(matches.begin(), matches.end(),
                     [&](const Match& match) { return match.*place == i; }))
      texts.push_back(describe(task, tuples[i]));
  return join(texts, "; ");
}

std::vector<Cell> error_row(Task task, const Sentence& gold, const Sentence& predicted) {
  const SentenceScore score = score_sentence(task, gold.tuples, predicted.tuples);
  double sum = 0, worst = 0;
  for (const Match& match : score.matches) {
    sum += match.distance;
    worst = std::max(worst, match.distance);
  }
  const double count = static_cast<double>(score.matches.size());
  return {gold.id,
          score.tuples.gold,
          score.tuples.predicted,
          score.tuples.matched,
          score.tuples.credit,
          unmatched(task, gold.tuples, score.matches, &Match::gold),
          unmatched(task, predicted.tuples, score.matches, &Match::predicted),
          number_or_nothing(sum / count),
          count > 0 ? number_or_nothing(worst) : Cell(std::monostate{}),
          gold.text.empty() ? predicted.text : gold.text};
}

}  // namespace

std::string describe(Task task, const Tuple& tuple) {
  std::vector<std::string> parts{tuple.aspect};
  if (task != Task::aspects) parts.push_back(tuple.opinion);
  if (task == Task::quadruplets) parts.push_back(tuple.category);
  if (tuple.va) parts.push_back(cat(fixed(tuple.va->valence, 2), "#", fixed(tuple.va->arousal, 2)));
  return join(parts, " · ");
}

ItemTable error_table(Task task, const Aligned& aligned) {
  LOCKSTEP_CHECK(aligned.gold.size() == aligned.predicted.size());
  ItemTable table{.columns = {"id", "gold", "predicted", "matched", "credit", "missed", "spurious",
                              "va_distance", "worst_va_distance", "text"}};
  for (std::size_t i = 0; i < aligned.gold.size(); ++i)
    table.rows.push_back(error_row(task, aligned.gold[i], aligned.predicted[i]));
  return table;
}

ItemTable group_table(Task task, const std::vector<GroupScore>& groups) {
  ItemTable table;
  if (task == Task::aspects) {
    table.columns = {"group", "aspects", "rmse_va", "pearson_v", "pearson_a"};
    for (const auto& [name, scores] : groups)
      table.rows.push_back({name, scores.va.count, number_or_nothing(scores.va.rmse()),
                            number_or_nothing(scores.va.pearson_valence()),
                            number_or_nothing(scores.va.pearson_arousal())});
    return table;
  }
  table.columns = {"group",      "gold",    "predicted", "matched", "cf1",
                   "cprecision", "crecall", "f1",        "rmse_va"};
  for (const auto& [name, scores] : groups) {
    const TupleSums& sums = scores.tuples;
    table.rows.push_back({name, sums.gold, sums.predicted, sums.matched, sums.c_f1(),
                          sums.c_precision(), sums.c_recall(), sums.f1(),
                          number_or_nothing(scores.va.rmse())});
  }
  return table;
}

}  // namespace lockstep::dimabsa
