// Shows the progress of a run.
#include "runtime/run/progress/progress.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/text/text.h"
#include "runtime/run/curves/recent_steps.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/progress/progress_text.h"
#include "runtime/run/progress/time_left.h"

namespace lockstep {
namespace {

constexpr double rewrite_every_s = 0.1;
constexpr double ask_devices_every_s = 1;
constexpr const char* clear_line = "\r\x1b[K";

std::string coloured(const EventLine& line, bool colour) {
  if (!colour || line.tone == Tone::plain) return line.text;
  return cat(line.tone == Tone::good ? "\x1b[32m" : "\x1b[33m", line.text, "\x1b[0m");
}

std::string percent(double share) {
  const double value = share * 100;
  return cat(fixed(value, value < 9.95 ? 1 : 0), "%");
}

}  // namespace

struct Progress::Impl {
  Impl(ProgressOptions given, Clock& the_clock) : options(std::move(given)), clock(the_clock) {}

  void on_start(const nlohmann::json& event);
  void on_step(const nlohmann::json& event);
  void on_items(const nlohmann::json& event);
  void print_lines(const std::vector<EventLine>& lines);
  void show(bool now);
  void keep_line(bool now);
  std::vector<Field> fields();
  struct Since;
  std::vector<Field> rate_fields(double done, double total, const std::optional<Since>& begin,
                                 const std::optional<Since>& first, const std::string& name);
  std::vector<Field> item_fields();
  std::string epoch_text() const;
  std::string end_text() const;
  const std::string& devices();
  void write(const std::string& text) const {
    if (options.write) options.write(text);
  }

  ProgressOptions options;
  Clock& clock;
  TimeLeft time_left;
  RecentSteps recent;
  nlohmann::json step_event;  // the last step event
  nlohmann::json item_event;  // the last event about predicted items
  // A time, and the number of items or work steps done by then. Four are kept: when items begin,
  // after the first item, when work begins, and after the first work step.
  struct Since {
    double s = 0, count = 0;
  };
  std::optional<Since> items_begin, first_item, work_begin, first_work;
  std::int64_t total_steps = 0, steps_per_epoch = 0, first_step = 0, last_step = 0;
  std::string unit;
  double quota_ends_s = 0;  // time of `clock`; 0 = no quota
  std::optional<double> shown_s, kept_s, asked_s;
  std::string device_text;
  bool line_open = false;
};

void Progress::Impl::on_start(const nlohmann::json& event) {
  total_steps = integer_or(event, "total_steps", 0);
  steps_per_epoch = integer_or(event, "steps_per_epoch", 0);
  unit = text_or(event, "unit", "samples");
  const double quota_s = number_or(event, "quota_s", 0);
  quota_ends_s = quota_s > 0 ? clock.now_s() + quota_s : 0;
  first_step = last_step = integer_or(event, "step", 0);
  time_left.start(last_step);
  recent = RecentSteps();
  time_left.expect_evaluations(integer_or(event, "eval_every_steps", 0),
                               number_or(event, "eval_batches", 0));
  step_event = nullptr;
  shown_s.reset();
  kept_s.reset();
}

void Progress::Impl::on_step(const nlohmann::json& event) {
  const std::int64_t step = integer_or(event, "step", 0);
  const double step_s = number_or(event, "step_s", NAN);
  const double data_share = number_or(event, "data_share", 0);
  time_left.on_step(step, step_s, number_or(event, "save_share", 0),
                    data_share + number_or(event, "wait_share", 0));
  const std::int64_t steps = std::clamp<std::int64_t>(step - last_step, 1, 1 << 20);
  const double seconds = step_s * static_cast<double>(steps);
  recent.add(steps, seconds, data_share * seconds);
  last_step = step;
  step_event = event;
  const bool is_last = total_steps > 0 && step >= total_steps;
  show(is_last);
  keep_line(is_last);
}

void Progress::Impl::on_items(const nlohmann::json& event) {
  const std::int64_t done = integer_or(event, "done", 0), earlier = integer_or(event, "earlier", 0);
  const double work = number_or(event, "work_done", 0), now = clock.now_s();
  if (!items_begin) {
    items_begin = Since{.s = now, .count = static_cast<double>(earlier)};
    work_begin = Since{.s = now};
  }
  if (!first_item && done > earlier) first_item = Since{now, static_cast<double>(done)};
  if (!first_work && work > 0) first_work = Since{now, work};
  const bool is_last = done >= integer_or(event, "total", 0);
  // A repeated last event differs only in its time.
  const bool is_new = done != integer_or(item_event, "done", -1) ||
                      integer_or(event, "skipped", 0) != integer_or(item_event, "skipped", 0);
  if (is_last && !is_new) return;
  item_event = event;
  show(is_last);
  keep_line(is_last);
}

// Rate and time left, by the recipe's work steps if it counts them, or else by items. While the
// command runs, the time until the first of them is left out. The rate at the end is for the whole
// time.
std::vector<Field> Progress::Impl::rate_fields(double done, double total,
                                               const std::optional<Since>& begin,
                                               const std::optional<Since>& first,
                                               const std::string& name) {
  const bool is_over = done >= total;
  const std::optional<Since>& since = is_over ? begin : first;
  if (!since || done <= since->count || clock.now_s() <= since->s) return {};
  const double rate = (done - since->count) / (clock.now_s() - since->s);
  std::vector<Field> fields = {{format_rate(rate, name), 3}};
  if (!is_over) fields.push_back({"eta " + format_span((total - done) / rate), 2});
  return fields;
}

std::vector<Field> Progress::Impl::item_fields() {
  const std::int64_t done = integer_or(item_event, "done", 0);
  const std::int64_t total = integer_or(item_event, "total", 0);
  const std::int64_t skipped = integer_or(item_event, "skipped", 0);
  const std::string work_unit = text_or(item_event, "work_unit", "");
  std::vector<Field> fields = {{cat("items ", done, "/", total), 0}};
  std::vector<Field> rates;
  if (work_unit.empty()) {
    rates = rate_fields(static_cast<double>(done), static_cast<double>(total), items_begin,
                        first_item, "items");
  } else {
    const double work = number_or(item_event, "work_done", 0);
    const double all = std::max(work, number_or(item_event, "work_total", 0));
    const bool is_known = is_true(item_event, "work_known");
    fields.push_back({cat(work_unit, " ", std::llround(std::floor(work)), "/", is_known ? "" : "~",
                          std::llround(all)),
                      1});
    rates = rate_fields(work, all, work_begin, first_work, work_unit);
  }
  fields.insert(fields.end(), rates.begin(), rates.end());
  if (skipped > 0) fields.push_back({cat("skipped ", skipped), 1});
  fields.push_back({devices(), 4});
  return fields;
}

std::string Progress::Impl::epoch_text() const {
  if (steps_per_epoch <= 0) return "";
  const std::int64_t step = std::max<std::int64_t>(1, integer_or(step_event, "step", 1));
  const std::int64_t epoch = (step - 1) / steps_per_epoch + 1;
  if (total_steps <= 0) return cat("epoch ", epoch);
  return cat("epoch ", epoch, "/", std::max(epoch, (total_steps - 1) / steps_per_epoch + 1));
}

std::string Progress::Impl::end_text() const {
  const std::optional<double> left =
      total_steps > 0 ? time_left.seconds_left(total_steps) : std::nullopt;
  const double quota_left = quota_ends_s - clock.now_s();
  if (quota_ends_s > 0 && (!left || *left > quota_left))
    return cat("quota in ", format_span(quota_left), left ? ", before the end" : "");
  return left ? "eta " + format_span(*left) : "";
}

const std::string& Progress::Impl::devices() {
  const double now = clock.now_s();
  if (options.device_status && (!asked_s || now - *asked_s >= ask_devices_every_s)) {
    asked_s = now;
    device_text = options.device_status();
  }
  return device_text;
}

std::vector<Field> Progress::Impl::fields() {
  const auto has_number = [&](const char* key) {
    return step_event.contains(key) && step_event[key].is_number();
  };
  std::vector<Field> fields = {{epoch_text(), 5}};
  const std::string step = cat("step ", integer_or(step_event, "step", 0));
  fields.push_back({total_steps > 0 ? cat(step, "/", total_steps) : step, 0});
  if (step_event.contains("loss")) fields.push_back({"loss " + format_loss(step_event["loss"]), 1});
  if (has_number("lr")) fields.push_back({"lr " + scientific(step_event["lr"], 1), 7});
  if (has_number("units_per_s"))
    fields.push_back({format_rate(step_event["units_per_s"], unit), 3});
  fields.push_back({format_mfu(step_event), 8});
  fields.push_back({devices(), 4});
  if (has_number("data_share")) fields.push_back({"data " + percent(recent.data_share()), 6});
  fields.push_back({end_text(), 2});
  return fields;
}

void Progress::Impl::show(bool now) {
  const double time = clock.now_s();
  const double every_s = options.terminal ? rewrite_every_s : options.plain_every_s;
  const bool items = !item_event.is_null();
  if ((step_event.is_null() && !items) || (!now && shown_s && time - *shown_s < every_s)) return;
  shown_s = time;
  const std::vector<Field> line = items ? item_fields() : fields();
  if (!options.terminal) return write(printable(fit_line(line, 0)) + "\n");
  // The last column stays empty, because some terminals wrap as soon as it is written.
  write(clear_line + printable(fit_line(line, std::max(1, options.width - 1))));
  line_open = true;
}

void Progress::Impl::keep_line(bool now) {
  const double time = clock.now_s();
  if (!options.keep || (!now && kept_s && time - *kept_s < options.plain_every_s)) return;
  kept_s = time;
  options.keep(printable(fit_line(item_event.is_null() ? fields() : item_fields(), 0)) + "\n");
}

void Progress::Impl::print_lines(const std::vector<EventLine>& lines) {
  std::string text, plain;
  for (EventLine line : lines) {
    line.text = printable(line.text);
    text += coloured(line, options.colour) + "\n";
    plain += line.text + "\n";
  }
  if (text.empty()) return;
  if (options.keep) options.keep(plain);
  const bool reopen = line_open;
  write((line_open ? clear_line : "") + text);
  line_open = false;
  if (reopen) show(true);
}

Progress::Progress(ProgressOptions options, Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}

Progress::~Progress() = default;

void Progress::on_event(const nlohmann::json& event) {
  const std::string kind = text_or(event, "kind", "");
  if (kind == "start") return impl_->on_start(event);
  if (kind == "step") return impl_->on_step(event);
  if (kind == "items") return impl_->on_items(event);
  if (kind == "eval")
    impl_->time_left.on_eval(integer_or(event, "step", 0),
                             number_or(event, "seconds", 0) - number_or(event, "warm_up_s", 0));
  if (kind == "quota") impl_->quota_ends_s = impl_->clock.now_s() + number_or(event, "quota_s", 0);
  if (kind != "stop" && kind != "end") return impl_->print_lines(describe_event(event));
  finish();
  nlohmann::json ended = event;
  ended["first_step"] = impl_->first_step;
  impl_->print_lines(describe_event(ended));
}

void Progress::note(const std::string& text) { impl_->print_lines({{text, Tone::plain}}); }

void Progress::finish() {
  if (impl_->line_open) impl_->write("\n");
  impl_->line_open = false;
}

std::string format_rate(double per_second, const std::string& unit) {
  constexpr double low = 10, s_per_min = 60;
  const std::string per_s = cat(" ", unit == "tokens" ? "tok" : unit, "/s");
  if (std::isnan(per_second)) return "nan" + per_s;
  if (per_second <= 0 || per_second >= low) return format_count(per_second) + per_s;
  return cat(general(per_second, 3), per_s, " (", general(per_second * s_per_min, 3), "/min)");
}

}  // namespace lockstep
