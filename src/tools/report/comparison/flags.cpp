#include "tools/report/comparison/flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "core/base/text/text.h"
#include "planning/compute.h"
#include "tools/report/facts/gpu_facts.h"
#include "tools/report/facts/option_kinds.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr std::size_t most_named = 4;

std::string some_of(const std::vector<std::string>& texts) {
  std::vector<std::string> shown(
      texts.begin(),
      texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), most_named)));
  return cat(join(shown, ", "),
             texts.size() > most_named ? cat(" and ", texts.size() - most_named, " more") : "");
}

bool is_count(const json& value) {
  if (!value.is_number()) return false;
  const double number = value.get<double>();
  return number == std::floor(number) && std::abs(number) < 9e15;
}

// Whether a larger value means more work. This applies to sizes, and to parameters that are whole
// numbers.
bool counts_work(const Difference& difference, bool total) {
  static const std::set<std::string> per_step = {"global_batch", "parameters", "frozen_parameters",
                                                 "flops_per_sample"};
  if (per_step.contains(difference.key))
    return difference.a.is_number() && difference.b.is_number();
  if (difference.kind == FactKind::amount)
    return total && difference.a.is_number() && difference.b.is_number();
  if (difference.kind != FactKind::work && !difference.key.starts_with("asked.")) return false;
  if (step_costs_the_same(difference.key, difference.a, difference.b)) return false;
  return is_count(difference.a) && is_count(difference.b);
}

struct WorkTexts {
  std::vector<std::string> more_in_b, more_in_a;
};

bool is_equal(const Differences& found, const std::string& key) {
  return std::find(found.equal.begin(), found.equal.end(), key) != found.equal.end();
}

// "used.NAME" for "asked.NAME". "" for other facts.
std::string used_name(const std::string& key) {
  constexpr std::string_view asked = "asked.";
  return key.starts_with(asked) ? cat("used.", key.substr(asked.size())) : "";
}

WorkTexts work_texts(const Differences& found, bool total) {
  WorkTexts texts;
  for (const Difference& difference : found.differences) {
    if (!counts_work(difference, total) || is_equal(found, used_name(difference.key))) continue;
    const double a = difference.a.get<double>(), b = difference.b.get<double>();
    (b > a ? texts.more_in_b : texts.more_in_a).push_back(difference.text);
  }
  return texts;
}

std::string times_text(double ratio) {
  return cat(general(ratio < 1 ? 1 / ratio : ratio, 3), " ×");
}

class FlagFinder {
 public:
  FlagFinder(const TrialGroup& a, const TrialGroup& b, const Differences& found,
             const std::vector<QuantityRow>& rows, double margin)
      : a_(a), b_(b), found_(found), rows_(rows), margin_(margin) {}

  std::vector<RedFlag> find() {
    beside();
    asked_and_not_used();
    with_more_work(Aspect::time, "faster_with_more_work", "is faster");
    with_more_work(Aspect::memory, "less_memory_with_more_work", "takes less memory");
    below_floor();
    above_devices();
    idle_devices();
    place();
    return std::move(flags_);
  }

 private:
  void flag(const std::string& name, const std::string& text) { flags_.push_back({name, text}); }

  static bool is_less_better(const QuantityRow& row, Aspect aspect) {
    const double ratio = row.contrast.interval.estimate;
    return row.what.aspect == aspect && row.contrast.scale == Scale::ratio && row.per.empty() &&
           row.what.better == Better::lower && row.what.name != "start_up_s" &&
           row.what.name != "sample_s" && std::isfinite(ratio) && ratio > 0;
  }

  // Whether the times per step contradict a total over the same number of steps. A total includes
  // the first step, which may take as long as many others.
  bool steps_contradict(const QuantityRow& total) const {
    if (!is_equal(found_, "steps")) return false;
    const bool b_less = total.contrast.interval.estimate < 1;
    return std::any_of(rows_.begin(), rows_.end(), [&](const QuantityRow& row) {
      const double ratio = row.contrast.interval.estimate;
      return row.what.name == "step_s" && is_less_better(row, total.what.aspect) &&
             (b_less ? ratio > 1 + margin_ : ratio < 1 / (1 + margin_));
    });
  }

  // Only the first matching row of the aspect is reported.
  void with_more_work(Aspect aspect, const char* name, const char* is) {
    for (const QuantityRow& row : rows_) {
      const double ratio = row.contrast.interval.estimate;
      if (!is_less_better(row, aspect) || (row.what.total && steps_contradict(row))) continue;
      const WorkTexts texts = work_texts(found_, row.what.total);
      const bool b_less = ratio<1 / (1 + margin_), a_less = ratio> 1 + margin_;
      const auto& more = b_less ? texts.more_in_b : texts.more_in_a;
      const auto& less = b_less ? texts.more_in_a : texts.more_in_b;
      if ((!b_less && !a_less) || more.empty() || !less.empty()) continue;
      return flag(name, cat(b_less ? b_.name : a_.name, " ", is, " (", row.what.title, " ",
                            times_text(ratio), ") with more work: ", some_of(more)));
    }
  }

  void below_floor() {
    for (const TrialGroup* group : {&a_, &b_})
      for (const Trial& trial : group->trials) {
        const double floor = trial.number("flops_per_step") / trial.number("peak_flops");
        const Quantity* const step = trial.find("step_s");
        if (step == nullptr || !(step->value < floor)) continue;
        flag("below_physical_floor",
             cat(group->name, " (", trial.name, ") took ", quantity_text(step->value, "s"),
                 " per step, but its devices need ", quantity_text(floor, "s"), " at least for ",
                 format_flops(trial.number("flops_per_step")),
                 ": the time, the FLOPs or the peak is wrong"));
        break;
      }
  }

  void above_devices() {
    const double devices = mean_fact(b_, "device_count") / mean_fact(a_, "device_count");
    if (!std::isfinite(devices) || devices == 1) return;
    for (const QuantityRow& row : rows_) {
      const bool rate = row.what.name.ends_with("_per_s"), time = row.what.name == "sample_s";
      double gain = row.contrast.interval.estimate;
      if ((!rate && !time) || !std::isfinite(gain) || gain <= 0) continue;
      if (time) gain = 1 / gain;
      const bool b_more = devices > 1;
      const double most = b_more ? devices : 1 / devices, got = b_more ? gain : 1 / gain;
      if (got <= most * (1 + margin_)) continue;
      return flag(
          "above_number_of_devices",
          cat((b_more ? b_ : a_).name, ": ", general(got, 3), " × the samples per second on ",
              general(most, 3), " × the devices: more than they can give for the same work"));
    }
  }

  static std::set<std::string> idle_of(const TrialGroup& group) {
    std::set<std::string> idle;
    for (const Trial& trial : group.trials) {
      const json busy = trial.value("busy_percent");
      if (!busy.is_object()) continue;
      for (const auto& [name, percent] : busy.items())
        if (percent.is_number() && percent.get<double>() < idle_percent)
          idle.insert(cat(name, " (", general(percent.get<double>(), 2), " % busy)"));
    }
    return idle;
  }

  void idle_devices() {
    for (const TrialGroup* group : {&a_, &b_}) {
      const std::set<std::string> idle = idle_of(*group);
      if (!idle.empty())
        flag("idle_device", cat(group->name, " left idle: ", some_of({idle.begin(), idle.end()})));
    }
  }

  void beside() {
    for (const TrialGroup* group : {&a_, &b_}) {
      const double jobs = mean_fact(*group, "jobs_beside");
      if (jobs > 0)
        flag("subset_of_a_larger_batch",
             cat(group->name, " is a subset cut out of a larger batch: ", fact_text(jobs),
                 " other jobs ran beside it, so that its times are no times of its own"));
    }
  }

  void asked_and_not_used() {
    std::vector<std::string> texts;
    for (const Difference& difference : found_.differences)
      if (const std::string used = used_name(difference.key); is_equal(found_, used))
        texts.push_back(cat(difference.text, ", used ", fact_text(a_.trials[0].value(used))));
    if (!texts.empty())
      flag("asked_for_and_not_used",
           cat("what was asked for differs, but not what was used: ", some_of(texts)));
  }

  const Difference* difference(const char* key) const {
    for (const Difference& one : found_.differences)
      if (one.key == key) return &one;
    return nullptr;
  }

  void place() {
    if (const Difference* const clock = difference("clock_mhz"))
      flag("clocks", cat("the GPUs ran at other clocks: ", fact_text(clock->b), " MHz against ",
                         fact_text(clock->a), " MHz"));
    if (const Difference* const throttled = difference("throttled_by"))
      flag("throttled", cat("clocks were held down by: ", fact_text(throttled->b), " against ",
                            fact_text(throttled->a)));
    for (const TrialGroup* group : {&a_, &b_}) {
      double most = 0;
      for (const Trial& trial : group->trials)
        if (const double others = trial.number("other_processes"); others > most) most = others;
      if (most > 0)
        flag("other_tenants", cat(group->name, " shared its GPUs with ", fact_text(most),
                                  most > 1 ? " processes" : " process", " of others"));
    }
    if (const Difference* const bytes = difference("read_bytes"))
      flag("read_from_disk",
           cat("read from disk, not from the page cache: ", format_bytes(bytes->b.get<double>()),
               " against ", format_bytes(bytes->a.get<double>())));
  }

  const TrialGroup &a_, &b_;
  const Differences& found_;
  const std::vector<QuantityRow>& rows_;
  double margin_;
  std::vector<RedFlag> flags_;
};

}  // namespace

std::vector<RedFlag> find_flags(const TrialGroup& a, const TrialGroup& b, const Differences& found,
                                const std::vector<QuantityRow>& rows, double margin) {
  return FlagFinder(a, b, found, rows, margin).find();
}

}  // namespace lockstep
