#include "recipes/dimabsa/model/table.h"

#include "base/text.h"
#include "recipes/dimabsa/sentences/score.h"
#include "recipes/dimabsa/sentences/va.h"

namespace lockstep::dimabsa {
namespace {

std::string words_of(const std::vector<Tuple>& tuples) {
  std::vector<std::string> all;
  for (const Tuple& tuple : tuples) {
    std::vector<std::string> parts{tuple.aspect};
    for (const std::string& part : {tuple.opinion, tuple.category})
      if (!part.empty()) parts.push_back(part);
    all.push_back(join(parts, " | ") + (tuple.va ? " " + format_va(*tuple.va) : ""));
  }
  return join(all, "; ");
}

}  // namespace

ItemTable table_of(Task task, const std::vector<Sentence>& gold,
                   const std::vector<Sentence>& found) {
  ItemTable table;
  table.columns = {"id", "right", "missed", "spurious", "text", "gold", "found"};
  for (std::size_t i = 0; i < gold.size(); ++i) {
    const TupleSums sums = score_sentence(task, gold[i].tuples, found[i].tuples).tuples;
    table.rows.push_back({gold[i].id, sums.shared_keys, sums.gold_keys - sums.shared_keys,
                          sums.predicted_keys - sums.shared_keys, gold[i].text,
                          words_of(gold[i].tuples), words_of(found[i].tuples)});
  }
  return table;
}

void draw(Task, const std::vector<Sentence>&, const std::vector<Sentence>&, EvaluationOutput&) {}

}  // namespace lockstep::dimabsa
