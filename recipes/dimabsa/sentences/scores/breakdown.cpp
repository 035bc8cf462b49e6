// Scores parts of the tuples.
#include "recipes/dimabsa/sentences/scores/breakdown.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "recipes/dimabsa/sentences/letters.h"
#include "recipes/dimabsa/sentences/scores/tuple_key.h"

namespace lockstep::dimabsa {
namespace {

std::vector<Sentence> only(const std::vector<Sentence>& sentences,
                           const std::function<bool(const Tuple&)>& holds) {
  std::vector<Sentence> kept;
  for (const Sentence& sentence : sentences) {
    Sentence part{.id = sentence.id};
    std::copy_if(sentence.tuples.begin(), sentence.tuples.end(), std::back_inserter(part.tuples),
                 holds);
    kept.push_back(std::move(part));
  }
  return kept;
}

}  // namespace

Scores score_where(Task task, const Aligned& aligned,
                   const std::function<bool(const Tuple&)>& holds) {
  return score_in_order(task, only(aligned.gold, holds), only(aligned.predicted, holds));
}

std::vector<GroupScore> by_null(Task task, const Aligned& aligned) {
  const auto aspect_null = [](const Tuple& tuple) { return is_null(tuple.aspect); };
  const auto opinion_null = [task](const Tuple& tuple) {
    return task != Task::aspects && is_null(tuple.opinion);
  };
  std::vector<GroupScore> groups{{"aspect NULL", score_where(task, aligned, aspect_null)}};
  if (task != Task::aspects)
    groups.push_back({"opinion NULL", score_where(task, aligned, opinion_null)});
  groups.push_back({"without NULL", score_where(task, aligned, [&](const Tuple& tuple) {
                      return !aspect_null(tuple) && !opinion_null(tuple);
                    })});
  return groups;
}

std::vector<GroupScore> by_category(Task task, const Aligned& aligned) {
  if (task != Task::quadruplets) return {};
  std::map<std::string, std::string> names;  // keyed by the lower-case name
  for (const auto* const sentences : {&aligned.gold, &aligned.predicted})
    for (const Sentence& sentence : *sentences)
      for (const Tuple& tuple : sentence.tuples)
        names.emplace(lower_case(tuple.category), tuple.category);
  std::vector<GroupScore> groups;
  for (const auto& [lower, name] : names)
    groups.push_back({name, score_where(task, aligned, [&wanted = lower](const Tuple& tuple) {
                        return lower_case(tuple.category) == wanted;
                      })});
  return groups;
}

}  // namespace lockstep::dimabsa
