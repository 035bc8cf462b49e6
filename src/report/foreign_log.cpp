#include "report/foreign_log.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "report/result_facts.h"

namespace lockstep {
namespace {

std::string lower_case(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

// "val", "loss" of "valLoss", "val/loss" and "Val_Loss".
std::set<std::string> words_of(const std::string& name) {
  const auto is_upper = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
  const auto is_lower = [](char letter) { return letter >= 'a' && letter <= 'z'; };
  std::set<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const bool ends =
        i == name.size() || std::string_view("/_-. ").find(name[i]) != std::string::npos;
    if (ends || (i > 0 && is_upper(name[i]) && is_lower(name[i - 1]))) {
      if (!word.empty()) words.insert(lower_case(word));
      word.clear();
    }
    if (!ends) word += name[i];
  }
  return words;
}

bool has_any(const std::set<std::string>& words, const std::vector<std::string>& of) {
  return std::any_of(of.begin(), of.end(),
                     [&](const std::string& word) { return words.contains(word); });
}

bool is_of_validation(const std::string& name) {
  return has_any(words_of(name), {"val", "valid", "validation", "eval", "evaluation", "test"});
}

// A scale of the loss is none.
bool is_loss(const std::string& name) {
  const std::set<std::string> words = words_of(name);
  return has_any(words, {"loss", "logloss"}) && !has_any(words, {"scale", "scaler", "scaling"});
}

bool goes_back(const ForeignSeries& series) {
  return std::adjacent_find(series.points.begin(), series.points.end(),
                            [](const ForeignPoint& a, const ForeignPoint& b) {
                              return b.seconds < a.seconds;
                            }) != series.points.end();
}

// A validation loss, else any loss.
const ForeignSeries* curve_of(const std::vector<ForeignSeries>& all) {
  const ForeignSeries* found = nullptr;
  for (const ForeignSeries& series : all)
    if (is_loss(series.name) && !series.points.empty() &&
        (found == nullptr || (is_of_validation(series.name) && !is_of_validation(found->name))))
      found = &series;
  return found;
}

void add_qualities(const ForeignSeries& series, Trial& trial) {
  Quantity quantity{.scale = Scale::difference,
                    .better = is_loss(series.name) ? Better::lower : Better::unknown,
                    .aspect = Aspect::quality};
  if (quantity.better == Better::lower) {
    double best = NAN;
    for (const ForeignPoint& point : series.points) best = std::fmin(best, point.value);
    quantity.name = "best." + series.name;
    quantity.title = series.name + ", best";
    trial.measure(quantity, best);
  }
  quantity.name = "last." + series.name;
  quantity.title = series.name + ", last";
  trial.measure(quantity, series.points.back().value);
}

}  // namespace

void add_foreign_log(const std::vector<ForeignSeries>& all, const std::string& counted,
                     Trial& trial) {
  std::int64_t first = INT64_MAX, last = 0;
  double begin = INFINITY, end = -INFINITY;
  for (const ForeignSeries& series : all)
    for (const ForeignPoint& point : series.points) {
      first = std::min(first, point.step);
      last = std::max(last, point.step);
      begin = std::fmin(begin, point.seconds);
      end = std::fmax(end, point.seconds);
    }
  if (counted.empty())
    trial.cautions.push_back("it counts no steps or epochs: how much was done is not known");
  else
    trial.set(counted, FactKind::amount, last);
  const bool steps = counted == "steps", back = std::any_of(all.begin(), all.end(), goes_back);
  if (back) {
    trial.cautions.push_back(
        "its times go back, as those of each epoch do: nothing is known of its speed");
  } else if (end > begin) {
    trial.measure(
        {.name = "train_s", .title = "time, first to last line", .unit = "s", .total = true},
        end - begin);
    if (last > first && steps)
      trial.measure({.name = "step_s", .title = "step time", .unit = "s"},
                    (end - begin) / static_cast<double>(last - first));
  } else {
    trial.cautions.push_back("it has no times: nothing is known of its speed");
  }
  for (const ForeignSeries& series : all)
    if (!series.points.empty()) add_qualities(series, trial);
  trial.cautions.push_back(
      "a log of another program: its data, parameters, batch and devices are not known");
  const ForeignSeries* const curve = curve_of(all);
  if (curve == nullptr || !(end > begin) || back) return;
  trial.metric = is_of_validation(curve->name) ? "loss" : curve->name;
  trial.metric_better = Better::lower;
  for (const ForeignPoint& point : curve->points)
    trial.curve.push_back({point.step, point.seconds, point.value});
}

}  // namespace lockstep
