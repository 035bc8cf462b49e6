#include "report/foreign_log.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "report/log_clock.h"
#include "report/own_exports.h"

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

// The validation loss itself, and no part of it such as val/aux_loss.
bool is_validation_loss(const std::string& name) {
  std::set<std::string> words = words_of(name);
  for (const char* word : {"val", "valid", "validation", "eval", "evaluation", "epoch"})
    words.erase(word);
  return is_of_validation(name) && words == std::set<std::string>{"loss"};
}

// Logged without a step, each event has the same one.
bool is_uncounted(const ForeignSeries& series) {
  const auto& points = series.points;
  return points.size() > 1 && std::all_of(points.begin(), points.end(), [&](const auto& point) {
           return point.place == points.front().place;
         });
}

void count_points(ForeignSeries& series) {
  double place = 0;
  for (ForeignPoint& point : series.points) point.place = ++place;
}

// Leaves out what went on from an earlier place took back. Returns when that was. repeats: a place
// may have several points, as an epoch has lines.
std::vector<double> take_back(ForeignSeries& series, bool repeats) {
  std::vector<double> restarts;
  std::vector<ForeignPoint>& points = series.points;
  std::size_t kept = 0;
  for (const ForeignPoint& point : points) {
    if (kept > 0 && points[kept - 1].place > point.place) restarts.push_back(point.time);
    while (kept > 0 && (points[kept - 1].place > point.place ||
                        (points[kept - 1].place == point.place && !repeats)))
      --kept;
    points[kept++] = point;
  }
  points.resize(kept);
  return restarts;
}

bool goes_back(const ForeignSeries& series) {
  return std::adjacent_find(series.points.begin(), series.points.end(),
                            [](const ForeignPoint& a, const ForeignPoint& b) {
                              return b.time < a.time;
                            }) != series.points.end();
}

// The validation loss, else a loss of validation, else any loss.
const ForeignSeries* curve_of(const std::vector<ForeignSeries>& all) {
  const auto rank = [](const std::string& name) {
    return is_validation_loss(name) ? 2 : is_of_validation(name) ? 1 : 0;
  };
  const ForeignSeries* found = nullptr;
  for (const ForeignSeries& series : all)
    if (is_loss(series.name) && !series.points.empty() &&
        (found == nullptr || rank(series.name) > rank(found->name)))
      found = &series;
  return found;
}

void add_qualities(const ForeignSeries& series, Trial& trial) {
  Quantity quantity{.scale = Scale::difference,
                    .better = is_loss(series.name) ? Better::lower : Better::unknown,
                    .aspect = Aspect::quality};
  if (quantity.better == Better::lower) {
    double best = NAN;
    for (const ForeignPoint& point : series.points)
      if (point.value < best || std::isnan(best)) best = point.value;
    quantity.name = "best." + series.name;
    quantity.title = series.name + ", best";
    trial.measure(quantity, best);
  }
  quantity.name = "last." + series.name;
  quantity.title = series.name + ", last";
  trial.measure(quantity, series.points.back().value);
}

nlohmann::json amount_of(double count) {
  return count == std::floor(count) && std::abs(count) <= 0x1p53
             ? nlohmann::json(static_cast<std::int64_t>(count))
             : nlohmann::json(count);
}

class LogReading {
 public:
  LogReading(ForeignLog log, Trial& trial) : log_(std::move(log)), trial_(trial) {}

  void read() {
    count_what_has_no_steps();
    keep_what_counts();
    back_ = std::any_of(log_.series.begin(), log_.series.end(), goes_back);
    own_ = !back_ && is_own_log(log_.series);
    amounts();
    times();
    for (const ForeignSeries& series : log_.series)
      if (!own_ || is_told_by_own(series)) add_qualities(series, trial_);
    trial_.cautions.push_back(own_ ? "an export of a run: its data, options, batch and devices are "
                                     "known of the run itself alone"
                                   : "a log of another program: its data, parameters, batch and "
                                     "devices are not known");
    curve();
  }

 private:
  // Steps are all that the points of own series have in common with each other.
  static bool is_told_by_own(const ForeignSeries& series) {
    return series.name.starts_with("train/") && series.name != "train/epoch";
  }

  const char* word() const {
    return log_.places_per_epoch > 0  ? ""
           : log_.counted == "epochs" ? "epoch"
           : log_.counted == "steps"  ? "step"
                                      : "row";
  }

  void count_what_has_no_steps() {
    if (log_.counted != "steps") return;
    std::vector<std::string> names;
    bool counted = false;
    for (ForeignSeries& series : log_.series) {
      if (!is_uncounted(series)) {
        counted = counted || series.points.size() > 1;
        continue;
      }
      count_points(series);
      names.push_back(series.name);
    }
    if (names.empty()) return;
    if (counted) uncounted_.insert(names.begin(), names.end());
    constexpr std::size_t shown = 3;
    const std::size_t more = names.size() > shown ? names.size() - shown : 0;
    names.resize(names.size() - more);
    trial_.cautions.push_back(
        cat("all values of ", join(names, ", "), more > 0 ? cat(" and ", more, " more") : "",
            " were logged for the same step: they are counted in their order"));
    if (!counted) log_.counted.clear();
  }

  // The series with the most places tells when it was started anew, and times.
  void keep_what_counts() {
    std::vector<double> restarts;
    std::erase_if(log_.series, [](const ForeignSeries& series) { return series.points.empty(); });
    for (ForeignSeries& series : log_.series) {
      std::vector<double> its = take_back(series, log_.counted == "epochs");
      if (uncounted_.contains(series.name)) continue;
      if (main_ != nullptr && series.points.size() <= main_->points.size()) continue;
      main_ = &series;
      restarts = std::move(its);
    }
    log_.starts.insert(log_.starts.end(), restarts.begin(), restarts.end());
    std::erase_if(log_.starts, [](double start) { return std::isnan(start); });
    std::sort(log_.starts.begin(), log_.starts.end());
  }

  void amounts() {
    if (log_.counted.empty()) {
      trial_.cautions.push_back("it counts no steps or epochs: how much was done is not known");
      return;
    }
    double last = 0;
    for (const ForeignSeries& series : log_.series)
      if (!uncounted_.contains(series.name)) last = std::max(last, series.points.back().place);
    if (log_.epochs > 0)
      trial_.set("epochs", FactKind::amount, amount_of(log_.epochs));
    else
      trial_.set(log_.counted, FactKind::amount, amount_of(last));
  }

  void times() {
    if (back_) {
      trial_.cautions.push_back(
          "its times go back, as those of each epoch do: nothing is known of its speed");
      return;
    }
    LogClock clock(*main_, log_.starts, log_.places_per_epoch);
    double begin = INFINITY, end = -INFINITY;
    for (const ForeignSeries& series : log_.series)
      for (const ForeignPoint& point : {series.points.front(), series.points.back()}) {
        begin = std::fmin(begin, clock.at(point.time));
        end = std::fmax(end, clock.at(point.time));
      }
    if (!(end > begin) && !(own_ && !clock.empty())) {
      trial_.cautions.push_back("it has no times: nothing is known of its speed");
      return;
    }
    if (const std::string pauses = clock.pauses_text(word()); !pauses.empty())
      trial_.cautions.push_back(pauses);
    clock_.emplace(std::move(clock));
    begin_ = begin;
    if (own_) return add_own_log(log_.series, *clock_, trial_);
    trial_.measure(
        {.name = "train_s", .title = "time, first to last line", .unit = "s", .total = true},
        end - begin);
    if (log_.counted == "steps" || log_.places_per_epoch > 0)
      trial_.measure({.name = "step_s", .title = "step time", .unit = "s"}, clock_->place_s());
  }

  void curve() {
    const ForeignSeries* const curve = own_ ? nullptr : curve_of(log_.series);
    if (curve == nullptr || !clock_) return;
    trial_.metric = is_validation_loss(curve->name) ? "loss" : curve->name;
    trial_.metric_better = Better::lower;
    trial_.curve.reserve(curve->points.size());
    for (const ForeignPoint& point : curve->points)
      trial_.curve.push_back({point.place, clock_->at(point.time) - begin_, point.value});
  }

  ForeignLog log_;
  Trial& trial_;
  bool back_ = false, own_ = false;  // its times go back; it is an export of a run
  std::set<std::string> uncounted_;  // series without steps, beside others that have some
  const ForeignSeries* main_ = nullptr;
  std::optional<LogClock> clock_;  // where it has times
  double begin_ = 0;
};

}  // namespace

void add_foreign_log(ForeignLog log, Trial& trial) { LogReading(std::move(log), trial).read(); }

}  // namespace lockstep
