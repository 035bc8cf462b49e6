#include "tools/report/reports/run_series.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/exports/event_limits.h"
#include "tools/report/exports/line_numbers.h"

namespace lockstep {
namespace {

constexpr std::size_t most_step_curves = 200, most_metric_curves = 200;
// number of events that are listed: the first and the last ones
constexpr std::size_t first_kept = 50, last_kept = 450;

const Curve* curve_named(const std::vector<NamedCurve>& curves, const std::string& name) {
  for (const NamedCurve& one : curves)
    if (one.name == name) return &one.curve;
  return nullptr;
}

// Adds an event. If there are many, keeps the first and the last ones.
void keep_event(std::vector<nlohmann::json>& events, nlohmann::json event) {
  if (events.size() >= first_kept + last_kept)
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(first_kept));
  events.push_back(std::move(event));
}

// The time of one start, from its first event to its last.
struct OpenStart {
  double begin = 0, last = 0;  // unix seconds; begin: when the command began, if known
  double first = 0;            // time of its first event
  double step = 0;             // the last logged step
  bool has_start = false;
};

class SeriesReader {
 public:
  SeriesReader(EventLimits limits, const ReadSeries& how) : limits_(std::move(limits)), how_(how) {
    constexpr double share = 0.02;
    const double span = std::max(1.0, share * static_cast<double>(limits_.step_lines()));
    all_.weight = std::clamp(how.smooth.value_or(1 - 1 / span), 0.0, 0.999999);
  }

  void line(const std::string& text) {
    if (all_.lines >= limits_.lines()) return;
    const std::int64_t number = all_.lines++;
    if (is_step_line(text))
      step_line(number, text);
    else
      other_line(number, text);
  }

  RunSeries finish() {
    close_start();
    TimeShares& time = all_.time;
    const double told = time.start_up + time.compute + time.data + time.wait + time.save +
                        time.evaluation + time.taken_back;
    time.total = std::max(all_.trained_s, told);
    time.other = time.total - told;
    return std::move(all_);
  }

 private:
  struct StepNumbers {
    double step = NAN, time = NAN, step_s = NAN;
    double compute = NAN, data = NAN, wait = NAN, save = NAN;
  };

  // -- time
  void at(double time) {
    if (!std::isfinite(time)) return;
    if (all_.begin == 0) all_.begin = time;
    all_.end = std::max(all_.end, time);
    if (!open_) open_start(time);
    open_->last = std::max(open_->last, time);
  }
  void open_start(double time) {
    close_start();
    open_ = OpenStart{.begin = time, .last = time, .first = time, .step = 0, .has_start = false};
    ++all_.starts;
  }
  void close_start() {
    if (open_) all_.trained_s += open_->last - open_->begin;
    open_.reset();
  }
  double trained_until(double time) const {
    const double now = std::isfinite(time) && open_ ? std::max(time, open_->begin) : NAN;
    return all_.trained_s + (std::isfinite(now) ? now - open_->begin : 0);
  }

  // -- steps
  void step_line(std::int64_t number, const std::string& text) {
    StepNumbers numbers;
    pending_.clear();
    const bool whole = visit_numbers(text, [&](const LineNumber& one) { take(one, numbers); });
    if (!whole || !(numbers.step >= 0)) {
      ++all_.bad_lines;
      return;
    }
    at(numbers.time);
    const bool counts = limits_.counts(number, numbers.step);
    add_window(numbers, counts);
    if (!counts) {
      ++all_.taken_back;
      return;
    }
    ++all_.step_lines;
    const CurvePlace place{numbers.step, trained_until(numbers.time)};
    for (const auto& [index, value] : pending_)
      if (index < all_.steps.size()) all_.steps[index].curve.add(place, value);
  }

  void take(const LineNumber& one, StepNumbers& numbers) {
    const std::string_view key = one.key;
    if (one.inner.empty()) {
      if (key == "step") numbers.step = one.value;
      if (key == "time") numbers.time = one.value;
      if (key == "step_s") numbers.step_s = one.value;
      if (key == "compute_share") numbers.compute = one.value;
      if (key == "data_share") numbers.data = one.value;
      if (key == "wait_share") numbers.wait = one.value;
      if (key == "save_share") numbers.save = one.value;
      if (key == "step" || key == "time" || key == "rank_wait_shares") return;
      if (key == "terms") {
        add_pending(cat("terms ", one.place + 1), one.value);
        return;
      }
      add_pending(key, one.value);
    } else if (key == "memory") {
      if (one.inner == "peak") add_peak(one.value);
    } else if (key == "logged" || key == "terms") {
      add_pending(cat(key, " ", one.inner), one.value);
    }
  }

  // Keeps the largest value of all ranks.
  void add_peak(double value) {
    const std::size_t index = index_of("memory peak");
    for (auto& [known, most] : pending_)
      if (known == index) {
        most = std::max(most, value);
        return;
      }
    pending_.emplace_back(index, value);
  }
  void add_pending(std::string_view name, double value) {
    pending_.emplace_back(index_of(name), value);
  }
  // Keys nearly always have the same order in each line, so the next curve is tried first.
  std::size_t index_of(std::string_view name) {
    std::vector<NamedCurve>& curves = all_.steps;
    if (guess_ < curves.size() && curves[guess_].name == name) return guess_++;
    for (std::size_t i = 0; i < curves.size(); ++i)
      if (curves[i].name == name) {
        guess_ = i + 1;
        return i;
      }
    if (curves.size() >= most_step_curves) return curves.size();
    curves.push_back({std::string(name), Curve(all_.weight, how_.columns)});
    guess_ = curves.size();
    return curves.size() - 1;
  }

  void add_window(const StepNumbers& numbers, bool counts) {
    if (!open_ || !(numbers.step_s >= 0)) return;
    const double steps = std::max(1.0, numbers.step - open_->step);
    open_->step = numbers.step;
    const double seconds = numbers.step_s * steps;
    TimeShares& time = all_.time;
    if (!counts) {
      time.taken_back += seconds;
      return;
    }
    double rest = 1;
    const auto add = [&](double& sum, double share) {
      if (!(share > 0)) return;
      const double part = std::min(share, rest);
      sum += part * seconds;
      rest -= part;
    };
    add(time.data, numbers.data);
    add(time.wait, numbers.wait);
    add(time.save, numbers.save);
    time.compute += rest * seconds;
  }

  // -- everything else
  void other_line(std::int64_t number, const std::string& text) {
    nlohmann::json event = parse_object(text);
    if (event.is_discarded()) {
      ++all_.bad_lines;
      return;
    }
    const std::string kind = text_or(event, "kind", "");
    if (kind == "step") {  // only another program writes such lines
      step_line(number, text);
      return;
    }
    const double time = number_or(event, "time", NAN), step = number_or(event, "step", NAN);
    if (kind == "resume" || (kind == "start" && (!open_ || open_->has_start)))
      if (std::isfinite(time)) open_start(time);
    at(time);
    const bool counts = limits_.counts(number, step);
    if (!counts) ++all_.taken_back;
    take_event(kind, std::move(event), {step, trained_until(time)}, counts);
  }

  void take_event(const std::string& kind, nlohmann::json event, const CurvePlace& place,
                  bool counts) {
    if (kind == "start") {
      if (open_) open_->has_start = true, open_->step = std::isfinite(place.step) ? place.step : 0;
    } else if (kind == "startup") {
      take_start_up(event);
    } else if (kind == "eval") {
      take_evaluation(std::move(event), place, counts);
    } else if (kind == "checkpoint") {
      if (!counts) return;
      ++all_.checkpoint_count;
      keep_event(all_.checkpoints, std::move(event));
    } else if (kind == "parameters") {
      all_.parameters = std::move(event);
    } else if (is_told(kind)) {
      ++all_.told_count;
      keep_event(all_.told, std::move(event));
    } else if (kind != "buckets") {
      ++all_.unknown_kinds;
    }
  }

  static bool is_told(const std::string& kind) {
    static const std::set<std::string> kinds{
        "resume", "init",    "not_finite",        "memory", "micro", "graph",
        "loader", "warning", "checkpoint_failed", "stop",   "end"};
    return kinds.contains(kind);
  }

  // Start-up ends with the first step, which may include an evaluation. Their times are reported
  // elsewhere, so they are subtracted here.
  void take_start_up(nlohmann::json& event) {
    const double seconds = number_or(event, "seconds", 0), time = number_or(event, "time", NAN);
    if (seconds > 0 && open_ && std::isfinite(time)) {
      double own = seconds;
      if (const auto parts = event.find("parts"); parts != event.end() && parts->is_array())
        for (const nlohmann::json& part : *parts)
          if (part.is_array() && part.size() == 2 && part[1].is_number() &&
              (part[0] == "first_step" || part[0] == "evaluation"))
            own -= part[1].get<double>();
      all_.time.start_up += std::max(own, 0.0);
      open_->begin = std::min(open_->begin, time - seconds);
    }
    all_.last_start_up = std::move(event);
  }

  void take_evaluation(nlohmann::json event, const CurvePlace& place, bool counts) {
    const double seconds = number_or(event, "seconds", 0);
    (counts ? all_.time.evaluation : all_.time.taken_back) += std::max(seconds, 0.0);
    if (!counts) return;
    ++all_.evaluations;
    const auto metrics = event.find("metrics");
    if (metrics != event.end() && metrics->is_object())
      for (const auto& [name, value] : metrics->items())
        if (value.is_number() || value.is_null())
          add_metric(event, name, place, value.is_null() ? NAN : value.get<double>());
    if (is_true(event, "best")) all_.best = event;
    keep_event(all_.evals, std::move(event));
  }

  void add_metric(const nlohmann::json& event, const std::string& name, const CurvePlace& place,
                  double value) {
    const auto found = std::find_if(all_.metrics.begin(), all_.metrics.end(),
                                    [&](const NamedCurve& one) { return one.name == name; });
    if (found != all_.metrics.end()) {
      found->curve.add(place, value);
      return;
    }
    if (all_.metrics.size() >= most_metric_curves) return;
    all_.metrics.push_back({name, Curve(0, how_.columns)});
    all_.metrics.back().curve.add(place, value);
    if (event.contains("units")) all_.units[name] = text_or(event["units"], name.c_str(), "");
  }

  EventLimits limits_;
  ReadSeries how_;
  RunSeries all_;
  std::optional<OpenStart> open_;
  // index of the curve, and the value in this line
  std::vector<std::pair<std::size_t, double>> pending_;
  std::size_t guess_ = 0;
};

}  // namespace

const Curve* RunSeries::step_curve(const std::string& name) const {
  return curve_named(steps, name);
}
const Curve* RunSeries::metric_curve(const std::string& name) const {
  return curve_named(metrics, name);
}

RunSeries read_run_series(const std::filesystem::path& events, const ReadSeries& how) {
  SeriesReader reader(EventLimits(events), how);
  for_each_line(events, [&](const std::string& line) { reader.line(line); });
  return reader.finish();
}

}  // namespace lockstep
