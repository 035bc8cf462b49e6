#include "recipes/gbdt/train/labels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "recipes/gbdt/bars/made_bars.h"

namespace lockstep::gbdt {
namespace {

constexpr double most_relevant = 30;  // the largest label with a gain in LightGBM
constexpr std::size_t panel_series = 10;

std::string place_of(const Bars& bars, std::size_t row) {
  return cat("the label of ", bars.symbol, bars.timeless ? " in row " : " at ", bars.stamps[row],
             " is ", general(bars.labels[row], 6));
}

void check_labels(const Objective& objective, const Bars& bars) {
  for (std::size_t row = 0; row < bars.labels.size(); ++row) {
    const double label = bars.labels[row];
    if (std::isnan(label) || objective.classifies()) continue;
    if (label < objective.least_label || (objective.least_excluded && label <= 0))
      throw Error(cat(place_of(bars, row), ", but objective=", objective.name, " learns what is ",
                      objective.least_excluded ? "above 0" : "0 or more"));
    if (objective.task != Task::ranking) continue;
    if (label != std::floor(label) || label > most_relevant)
      throw Error(cat(place_of(bars, row), ", but a ranking learns whole numbers from 0 to ",
                      most_relevant),
                  "the more relevant a row is in its group, the higher its label");
  }
}

// Sets labels from 0 to 4 by the rank of a row's return in its group.
void rank_in_groups(SymbolData& data) {
  const std::vector<std::int64_t>& groups = data.bars.groups;
  for (std::size_t begin = 0; begin < groups.size();) {
    std::size_t end = begin;
    while (end < groups.size() && groups[end] == groups[begin]) ++end;
    std::vector<std::size_t> order(end - begin);
    std::iota(order.begin(), order.end(), begin);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return data.returns[a] < data.returns[b]; });
    for (std::size_t i = 0; i < order.size(); ++i)
      if (!std::isnan(data.returns[order[i]]))
        data.labels[order[i]] = static_cast<double>(5 * i / order.size());
    begin = end;
  }
}

}  // namespace

void make_labels(const GbdtOptions& options, SymbolData& data) {
  const Objective& objective = options.learns();
  if (!options.label_column.empty() || !data.bars.labels.empty()) {
    check_labels(objective, data.bars);
    data.classes = data.bars.classes;
    data.labels = data.bars.labels;
    if (data.labels.empty()) data.labels.assign(data.bars.size(), NAN);
    return;
  }
  data.labels = data.returns;
  if (objective.task == Task::regression) return;
  if (objective.task == Task::ranking) return rank_in_groups(data);
  const bool three = objective.task == Task::multiclass;
  data.classes =
      three ? std::vector<std::string>{"down", "flat", "up"} : std::vector<std::string>{"0", "1"};
  const double up = options.threshold;
  for (double& value : data.labels) {
    if (std::isnan(value)) continue;
    if (three)
      value = value > up ? 2 : value < -up ? 0 : 1;
    else
      value = value > up ? 1 : 0;
  }
}

std::string nothing_to_learn(const SymbolData& data, const std::vector<std::size_t>& rows) {
  const double label = data.labels[rows.front()];
  if (std::any_of(rows.begin(), rows.end(),
                  [&](std::size_t row) { return data.labels[row] != label; }))
    return "";
  return cat(
      "all ", rows.size(), " training rows have the label ",
      data.classes.empty() ? general(label, 6) : data.classes[static_cast<std::size_t>(label)],
      ", so that there is nothing to learn");
}

std::string label_rule(const GbdtOptions& options) {
  const Task task = options.learns().task;
  const std::string threshold = general(options.threshold, 6);
  const std::string to = cat("the return over ", options.horizon, " bars");
  if (!options.label_column.empty()) return cat("the column ", options.label_column);
  if (options.made() && options.data.made_rows > 0)
    return "made: of s = x01 + x02 x03 + sin(3 x04) + 0.5 e";
  if (task == Task::regression) return to;
  if (task == Task::ranking) return cat("fifth (0 to 4) of ", to, " among those of the day");
  if (task == Task::binary) return cat("1 where ", to, " is above ", threshold);
  return cat("up where ", to, " is above ", threshold, ", down where it is below -", threshold,
             ", else flat");
}

void make_panel(const GbdtOptions& options, const std::string& symbol, const MadeBars& how,
                SymbolData& data) {
  struct Series {
    Bars bars;
    FeatureTable features;
    std::vector<double> returns;
  };
  std::vector<Series> all;
  Hasher hasher;
  for (std::size_t i = 0; i < panel_series; ++i) {
    Series one{.bars = make_bars(cat(symbol, "-", i), how)};
    one.features = compute_features(one.bars, options.feature_set);
    one.returns = forward_returns(one.bars, static_cast<std::size_t>(options.horizon));
    hasher.update(one.bars.hash);
    all.push_back(std::move(one));
  }
  data.bars.symbol = symbol;
  data.bars.hash = hasher.hex();
  data.bars.notes.push_back(cat("the prices of ", panel_series,
                                " series are made, with a planted signal; a day is a group"));
  data.features = {.names = all[0].features.names, .values = {}};
  data.features.warm_up = warm_up_bars * panel_series;
  for (std::size_t day = 0; day < all[0].bars.size(); ++day) {
    data.bars.group_names.push_back(all[0].bars.stamps[day]);
    for (const Series& one : all) {
      data.bars.stamps.push_back(one.bars.stamps[day]);
      data.bars.days.push_back(one.bars.days[day]);
      data.bars.close.push_back(one.bars.close[day]);
      data.bars.groups.push_back(static_cast<std::int64_t>(day));
      data.returns.push_back(one.returns[day]);
      data.features.values.insert(data.features.values.end(), one.features.row(day),
                                  one.features.row(day) + one.features.columns());
    }
  }
}

std::vector<std::int32_t> group_sizes(const Bars& bars, const std::vector<std::size_t>& rows) {
  std::vector<std::int32_t> sizes;
  if (bars.groups.empty()) return sizes;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || bars.groups[rows[i]] != bars.groups[rows[i - 1]]) sizes.push_back(0);
    ++sizes.back();
  }
  return sizes;
}

Metrics measure(const GbdtOptions& options, const SymbolData& data,
                const std::vector<std::size_t>& rows, std::span<const double> scores) {
  const std::size_t outputs = rows.empty() ? 1 : scores.size() / rows.size();
  std::vector<std::size_t> labelled;
  std::vector<double> labels, of_labelled;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::isnan(data.labels[rows[i]])) continue;
    labelled.push_back(rows[i]);
    labels.push_back(data.labels[rows[i]]);
    const auto of_row = scores.subspan(i * outputs, outputs);
    of_labelled.insert(of_labelled.end(), of_row.begin(), of_row.end());
  }
  const std::vector<std::int32_t> groups = group_sizes(data.bars, labelled);
  return options.learns().measure(
      {.scores = of_labelled,
       .labels = labels,
       .classes = data.classes,
       .groups = groups,
       .alpha = to_number(options.param({"alpha"}, "0.9")).value_or(0.9)});
}

}  // namespace lockstep::gbdt
