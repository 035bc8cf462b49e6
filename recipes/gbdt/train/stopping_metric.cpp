#include "recipes/gbdt/train/stopping_metric.h"

#include <algorithm>
#include <set>

#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

std::string label_text(float label, const std::vector<std::string>& classes) {
  const auto place = static_cast<std::size_t>(label);
  return label >= 0 && place < classes.size() ? classes[place] : general(label, 6);
}

std::string one_label(const Rows& rows, const std::vector<std::string>& classes) {
  const auto [least, most] = std::minmax_element(rows.labels.begin(), rows.labels.end());
  if (*least != *most) return "";
  return cat("all ", rows.rows(), " have the label ", label_text(*least, classes));
}

// Describes labels that are all on one side of 0, or returns "". LightGBM divides labels there for
// AUC and average precision.
std::string one_side_of_zero(const Rows& rows, const std::vector<std::string>& classes) {
  const auto above =
      std::count_if(rows.labels.begin(), rows.labels.end(), [](float label) { return label > 0; });
  if (above > 0 && above < rows.rows()) return "";
  const std::string one = one_label(rows, classes);
  return one.empty() ? cat("all ", rows.rows(), " labels are ", above > 0 ? "above 0" : "0 or less")
                     : one;
}

std::string absent_class(const Rows& rows, const std::vector<std::string>& classes) {
  const std::set<float> there(rows.labels.begin(), rows.labels.end());
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (!there.contains(static_cast<float>(i)))
      return cat("none of ", rows.rows(), " has the class ", classes[i]);
  return "";
}

// Returns a text if no group has different labels, or "". LightGBM's MAP treats all labels above
// 0.5 as relevant.
std::string nothing_to_order(const Rows& rows, bool by_relevance) {
  const auto kind = [&](float label) { return by_relevance ? (label > 0.5F ? 1.F : 0.F) : label; };
  auto begin = rows.labels.begin();
  for (const std::int32_t size : rows.groups) {
    const auto end = begin + size;
    if (std::any_of(begin, end, [&](float label) { return kind(label) != kind(*begin); }))
      return "";
    begin = end;
  }
  return by_relevance ? "no group has rows of the label 0 and of others"
                      : "no group has rows of different labels";
}

}  // namespace

std::string why_blind(const std::string& metric, const Rows& rows,
                      const std::vector<std::string>& classes) {
  if (metric == "auc" || metric == "average_precision") return one_side_of_zero(rows, classes);
  if (metric == "auc_mu") return absent_class(rows, classes);
  if (metric == "ndcg" || metric == "map") return nothing_to_order(rows, metric == "map");
  if (metric == "r2") return one_label(rows, classes);
  return "";
}

StoppingMetric stopping_metric(const std::string& list, const Objective& objective,
                               const Rows& rows, const std::vector<std::string>& classes) {
  std::vector<std::string> names = metric_names(list);
  if (list.empty()) names = {objective.metric};
  if (names.empty() || names[0] == "custom") return {.list = list};
  StoppingMetric chosen{
      .asked = names[0], .why_blind = why_blind(names[0], rows, classes), .list = list};
  if (chosen.why_blind.empty()) {
    chosen.used = chosen.asked;
    return chosen;
  }
  std::vector<std::string> tried = names;
  tried.emplace_back(objective.metric);
  const auto found = std::find_if(tried.begin(), tried.end(), [&](const std::string& name) {
    return name != "custom" && why_blind(name, rows, classes).empty();
  });
  if (found == tried.end()) return chosen;
  chosen.used = *found;
  std::erase(names, chosen.used);
  names.insert(names.begin(), chosen.used);
  chosen.list = join(names, ",");
  return chosen;
}

}  // namespace lockstep::gbdt
