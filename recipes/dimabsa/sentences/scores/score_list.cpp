// Lists scores by name, with confidence intervals.
#include "recipes/dimabsa/sentences/scores/score_list.h"

#include <span>

#include "core/base/check.h"

namespace lockstep::dimabsa {
namespace {

// The sums of each sentence, so that a resample only adds numbers.
std::vector<Scores> scores_of_sentences(Task task, const Aligned& aligned) {
  std::vector<Scores> rows;
  for (std::size_t i = 0; i < aligned.gold.size(); ++i) {
    const SentenceScore one =
        score_sentence(task, aligned.gold[i].tuples, aligned.predicted[i].tuples);
    rows.push_back({.sentences = 1, .tuples = one.tuples, .va = one.va});
  }
  return rows;
}

template <class Value>
Interval interval_of(const std::vector<Scores>& rows, const BootstrapOptions& options,
                     const Value& value) {
  const Statistic statistic = [&](std::span<const std::uint32_t> chosen) {
    Scores sum;
    for (const std::uint32_t row : chosen) {
      sum.tuples += rows[row].tuples;
      sum.va += rows[row].va;
    }
    return value(sum);
  };
  return bootstrap(static_cast<std::uint32_t>(rows.size()), statistic, options);
}

}  // namespace

std::vector<std::string> score_names(Task task) {
  std::vector<std::string> names;
  for (const Score& score : score_list(task, {})) names.push_back(score.name);
  return names;
}

std::vector<Score> score_list(Task task, const Scores& scores) {
  const VaSums& va = scores.va;
  if (task == Task::aspects)
    return {{.name = "rmse_va", .value = va.rmse(), .lower_is_better = true},
            {.name = "rmse_va_norm", .value = va.rmse(true), .lower_is_better = true},
            {.name = "pearson_v", .value = va.pearson_valence()},
            {.name = "pearson_a", .value = va.pearson_arousal()}};
  const TupleSums& sums = scores.tuples;
  return {{.name = "f1", .value = sums.f1()},
          {.name = "cf1", .value = sums.c_f1()},
          {.name = "cprecision", .value = sums.c_precision()},
          {.name = "crecall", .value = sums.c_recall()},
          {.name = "precision", .value = sums.precision()},
          {.name = "recall", .value = sums.recall()},
          {.name = "rmse_va", .value = va.rmse(), .lower_is_better = true}};
}

std::vector<NamedInterval> score_intervals(Task task, const Aligned& aligned,
                                           const BootstrapOptions& options) {
  LOCKSTEP_CHECK(aligned.gold.size() == aligned.predicted.size());
  const std::vector<Scores> rows = scores_of_sentences(task, aligned);
  if (task == Task::aspects)
    return {
        {"rmse_va", interval_of(rows, options, [](const Scores& sum) { return sum.va.rmse(); })}};
  return {{"cf1", interval_of(rows, options, [](const Scores& s) { return s.tuples.c_f1(); })},
          {"f1", interval_of(rows, options, [](const Scores& s) { return s.tuples.f1(); })}};
}

}  // namespace lockstep::dimabsa
