#include "tools/report/facts/run_log.h"

#include <algorithm>
#include <cmath>

#include "runtime/run/curves/step_list.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/exports/line_numbers.h"

namespace lockstep {
namespace {

class LogReader {
 public:
  void line(const std::string& line) {
    if (is_step_line(line)) return step_line(line);
    const nlohmann::json event = parse_object(line);
    if (event.is_discarded())
      ++log_.bad_lines;
    else
      other(event);
  }

  RunLog finish() {
    close_start();
    if (!last_line_.empty()) log_.last_step = object_or_null(last_line_);
    for (const auto& [logged, peak] : steps_.take()) {
      log_.steps.push_back(logged);
      log_.step = std::max(log_.step, logged.step);
      if (peak > 0) log_.peak_bytes = std::max(log_.peak_bytes.value_or(0), peak);
    }
    for (const nlohmann::json& start : that_made_steps(
             starts_.take(), [](const auto& start) { return integer_or(start, "step", 0); })) {
      if (const std::string precision = text_or(start, "precision", ""); !precision.empty())
        add_change(log_.precisions, precision);
      if (start.contains("peak_flops"))
        add_change(log_.peak_flops, number_or(start, "peak_flops", 0));
    }
    for (const auto& [step, micro] :
         that_made_steps(micro_.take(), [](const auto& change) { return change.first; }))
      add_change(log_.micro, micro);
    log_.evals = evals_.take();
    return std::move(log_);
  }

 private:
  // Second: the peak memory at the step, or 0 if unknown.
  using CountedStep = std::pair<LoggedSteps, double>;

  static nlohmann::json object_or_null(const std::string& line) {
    nlohmann::json value = parse_object(line);
    return value.is_discarded() ? nlohmann::json() : value;
  }

  double at(double time) const {
    return std::isfinite(time) && begun_ > 0 ? before_s_ + std::max(0.0, time - begun_) : before_s_;
  }

  void saw(double time) {
    if (std::isfinite(time)) seen_ = std::max(seen_, time);
  }

  void step_line(const std::string& line) {
    const double step = quick_number(line, "step");
    if (!(step >= 1 && step < 9e15)) {
      ++log_.bad_lines;
      return;
    }
    const double time = quick_number(line, "time");
    LoggedSteps logged{.step = static_cast<std::int64_t>(step),
                       .step_s = quick_number(line, "step_s"),
                       .at_s = at(time),
                       .first = first_,
                       .data_share = quick_number(line, "data_share"),
                       .wait_share = quick_number(line, "wait_share")};
    const CountedStep* const last = steps_.last();
    const std::int64_t before = last == nullptr ? 0 : last->first.step;
    logged.steps = std::max<std::int64_t>(logged.step - std::max(before, from_), 0);
    if (!std::isfinite(quick_number(line, "loss"))) ++log_.not_finite;
    steps_.add(logged.step, {logged, peak_of(line)});
    first_ = false;
    saw(time);
    last_line_ = line;
    last_line_step_ = step;
  }

  static double peak_of(const std::string& line) {
    double peak = 0;
    visit_numbers(line, [&](const LineNumber& number) {
      if (number.key == "memory" && number.inner == "peak") peak = std::fmax(peak, number.value);
    });
    return peak;
  }

  void close_start() {
    if (begun_ <= 0) return;
    log_.trained.emplace_back(begun_, std::max(seen_, begun_));
    log_.train_s = at(seen_);
  }

  void begin_start(const nlohmann::json& event) {
    close_start();
    begun_ = seen_ = number_or(event, "time", 0);
    before_s_ = kept_s();
    from_ = integer_or(event, "step", 0);
    log_.step = from_;
    first_ = true;
    ++log_.starts;
    log_.start = event;
    log_.ended = nullptr;
    take_micro(from_, event);
    starts_.add(from_, event);
  }

  template <class Value>
  static void add_change(std::vector<Value>& values, const Value& value) {
    if (values.empty() || values.back() != value) values.push_back(value);
  }

  // An item applies from a step on, and is kept only if a step was made with it. In a run without
  // steps, the last item is kept.
  template <class Item, class StepOf>
  std::vector<Item> that_made_steps(std::vector<Item> all, const StepOf& step_of) const {
    std::vector<Item> some;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_last = i + 1 == all.size();
      const std::int64_t until = is_last ? log_.step : step_of(all[i + 1]);
      if (until > step_of(all[i]) || (is_last && some.empty())) some.push_back(std::move(all[i]));
    }
    return some;
  }

  // Training time until the last step or evaluation that counts.
  double kept_s() const {
    double until = 0;
    if (const CountedStep* const last = steps_.last()) until = last->first.at_s;
    if (const LoggedEval* const last = evals_.last()) until = std::max(until, last->at_s);
    return until;
  }

  void take_back(std::int64_t step) {
    steps_.take_back(step);
    evals_.take_back(step);
    starts_.take_back(step - 1);  // a new start replaces an earlier one at the same step
    micro_.take_back(step - 1);
    if (last_line_step_ > static_cast<double>(step)) last_line_.clear();
    log_.step = step;
  }

  void take_micro(std::int64_t step, const nlohmann::json& event) {
    const std::int64_t micro = integer_or(event, "micro", 0);
    if (micro > 0) micro_.add(step, {step, micro});
  }

  void take_eval(const nlohmann::json& event) {
    const auto metrics = event.find("metrics");
    if (metrics == event.end() || !metrics->is_object()) return;
    const auto object = [&](const char* key) {
      const auto found = event.find(key);
      return found != event.end() && found->is_object() ? *found : nlohmann::json::object();
    };
    const std::int64_t step = integer_or(event, "step", 0);
    evals_.add(step, {.step = step,
                      .at_s = at(number_or(event, "time", NAN)),
                      .metrics = *metrics,
                      .units = object("units"),
                      .better = object("better"),
                      .best = is_true(event, "best")});
  }

  void other(const nlohmann::json& event) {
    const std::string kind = text_or(event, "kind", "");
    if (kind == "start") return begin_start(event);
    if (kind == "resume") {
      close_start();
      begun_ = 0;
      return take_back(integer_or(event, "step", 0));
    }
    saw(number_or(event, "time", NAN));
    if (kind == "eval") take_eval(event);
    if (kind == "memory" || kind == "micro")
      take_micro(integer_or(event, "step", log_.step), event);
    if (kind == "startup" && !log_.start_up_s && event.contains("seconds"))
      log_.start_up_s = number_or(event, "seconds", NAN);
    if (kind == "stop" || kind == "end" || kind == "checkpoint")
      log_.step = std::max(log_.step, integer_or(event, "step", 0));
    if (kind == "stop" || kind == "end") log_.ended = event;
  }

  RunLog log_;
  std::string last_line_;
  double last_line_step_ = 0;
  StepList<CountedStep> steps_;
  StepList<LoggedEval> evals_;
  StepList<nlohmann::json> starts_;  // starts whose steps count
  // A step, and the micro-batch from that step on.
  StepList<std::pair<std::int64_t, std::int64_t>> micro_;
  // Times of this start. begun_ and seen_: unix seconds. before_s_: training time.
  double begun_ = 0, seen_ = 0, before_s_ = 0;
  std::int64_t from_ = 0;
  bool first_ = true;
};

}  // namespace

std::optional<double> RunLog::step_s() const {
  double first_s = 0, other_s = 0;
  std::int64_t firsts = 0, others = 0;
  for (const LoggedSteps& logged : steps) {
    if (!std::isfinite(logged.step_s)) continue;
    (logged.first ? firsts : others) += logged.steps;
    (logged.first ? first_s : other_s) += logged.step_s * static_cast<double>(logged.steps);
  }
  if (others > 0) return other_s / static_cast<double>(others);
  return firsts > 0 ? std::optional(first_s / static_cast<double>(firsts)) : std::nullopt;
}

std::optional<double> RunLog::share(double LoggedSteps::*of) const {
  double sum = 0, all_s = 0;
  for (const LoggedSteps& logged : steps) {
    const double seconds = logged.step_s * static_cast<double>(logged.steps);
    if (!(seconds > 0) || !std::isfinite(seconds) || !std::isfinite(logged.*of)) continue;
    sum += logged.*of * seconds;
    all_s += seconds;
  }
  return all_s > 0 ? std::optional(sum / all_s) : std::nullopt;
}

RunLog read_run_log(const std::filesystem::path& events) {
  LogReader reader;
  for_each_line(events, [&](const std::string& line) { reader.line(line); });
  return reader.finish();
}

}  // namespace lockstep
