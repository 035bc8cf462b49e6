// Metrics for the order of rows in groups.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "recipes/gbdt/metrics/intervals.h"

namespace lockstep::gbdt {
namespace {

struct Group {
  std::vector<double> gains;          // sorted by falling score
  std::vector<std::size_t> tie_ends;  // for each position, the end of the rows with the same score
  std::vector<double> best;           // gains, sorted from the highest
  std::size_t relevant = 0;           // number of rows with a gain
};

Group sorted_group(std::span<const double> scores, std::span<const double> labels) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  Group group;
  for (const std::size_t i : order) group.gains.push_back(std::exp2(labels[i]) - 1);
  group.tie_ends.resize(order.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && scores[order[end]] == scores[order[i]]) ++end;
    std::fill(group.tie_ends.begin() + static_cast<std::ptrdiff_t>(i),
              group.tie_ends.begin() + static_cast<std::ptrdiff_t>(end), end);
    i = end;
  }
  group.best = group.gains;
  std::sort(group.best.begin(), group.best.end(), std::greater<>());
  for (const double gain : group.gains) group.relevant += gain > 0;
  return group;
}

double discount(std::size_t place, std::size_t k) {
  return place < k ? 1 / std::log2(static_cast<double>(place) + 2) : 0;
}

double ideal(const Group& group, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i < group.best.size(); ++i) sum += group.best[i] * discount(i, k);
  return sum;
}

// Rows with equal scores get the mean discount of their positions.
double ndcg(const Group& group, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i < group.gains.size();) {
    const std::size_t end = group.tie_ends[i];
    double gains = 0, discounts = 0;
    for (std::size_t j = i; j < end; ++j) {
      gains += group.gains[j];
      discounts += discount(j, k);
    }
    sum += gains * discounts / static_cast<double>(end - i);
    i = end;
  }
  return sum / ideal(group, k);
}

double ndcg_at_random(const Group& group, std::size_t k) {
  double gains = 0, discounts = 0;
  for (std::size_t i = 0; i < group.gains.size(); ++i) {
    gains += group.gains[i];
    discounts += discount(i, k);
  }
  return gains / static_cast<double>(group.gains.size()) * discounts / ideal(group, k);
}

double average_precision(const Group& group) {
  double sum = 0, hits = 0;
  for (std::size_t i = 0; i < group.gains.size();) {
    const std::size_t end = group.tie_ends[i];
    double of_tie = 0;
    for (std::size_t j = i; j < end; ++j) of_tie += group.gains[j] > 0;
    hits += of_tie;
    sum += of_tie * hits / static_cast<double>(end);
    i = end;
  }
  return sum / static_cast<double>(group.relevant);
}

Metric share_metric(const char* name, std::span<const double> values) {
  Metric metric = mean_metric(name, values);
  if (metric.value.high > 1) metric.value.high = 1;
  return metric;
}

}  // namespace

Metrics ranking_metrics(const ScoredRows& rows) {
  struct Depth {
    const char* name;
    std::size_t k;
  };
  constexpr std::array depths = {Depth{"ndcg@1", 1}, Depth{"ndcg@3", 3}, Depth{"ndcg@5", 5},
                                 Depth{"ndcg@10", 10}};
  std::vector<double> at_random, precision;
  std::array<std::vector<double>, depths.size()> values;
  std::size_t begin = 0;
  for (const std::int32_t size : rows.groups) {
    const auto length = static_cast<std::size_t>(size);
    const Group group =
        sorted_group(rows.scores.subspan(begin, length), rows.labels.subspan(begin, length));
    begin += length;
    if (group.relevant == 0) continue;
    at_random.push_back(ndcg_at_random(group, 10));
    for (std::size_t i = 0; i < depths.size(); ++i) values[i].push_back(ndcg(group, depths[i].k));
    precision.push_back(average_precision(group));
  }
  Metrics metrics{.rows = static_cast<std::int64_t>(rows.labels.size())};
  metrics.list.push_back(share_metric("base_ndcg@10", at_random));
  for (std::size_t i = 0; i < depths.size(); ++i)
    metrics.list.push_back(share_metric(depths[i].name, values[i]));
  metrics.list.push_back(share_metric("map", precision));
  return metrics;
}

}  // namespace lockstep::gbdt
