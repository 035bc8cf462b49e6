#include "tools/report/comparison/comparison.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/report/comparison/flags.h"
#include "tools/report/comparison/goal.h"
#include "tools/report/comparison/job_match.h"
#include "tools/report/comparison/job_pairs.h"
#include "tools/report/comparison/verdict.h"

namespace lockstep {
namespace {

// Quantities that both sides have, in the order in which they first appear.
std::vector<Quantity> measured_on_both(const TrialGroup& a, const TrialGroup& b) {
  std::vector<Quantity> found;
  const auto has = [](const TrialGroup& group, const std::string& name) {
    return std::any_of(group.trials.begin(), group.trials.end(),
                       [&](const Trial& trial) { return trial.find(name) != nullptr; });
  };
  std::set<std::string> seen;
  for (const Trial& trial : a.trials)
    for (const Quantity& quantity : trial.quantities)
      if (seen.insert(quantity.name).second && has(b, quantity.name)) found.push_back(quantity);
  return found;
}

// The values of a quantity, divided by the amount `per` if it is given. The result is NaN if the
// value or amount is NaN. If paired, trials without a value give NaN, so that pairs keep their
// positions.
std::vector<double> values_of(const TrialGroup& group, const std::string& name,
                              const std::string& per, bool paired) {
  std::vector<double> values;
  for (const Trial& trial : group.trials)
    if (const Quantity* const quantity = trial.find(name))
      values.push_back(per.empty() ? quantity->value : quantity->value / trial.number(per));
    else if (paired)
      values.push_back(NAN);
  return values;
}

// For example, "; of old 2 of 3 have a value". "" if all have one.
std::string missing_text(const TrialGroup& group, int values) {
  return values < static_cast<int>(group.trials.size())
             ? cat("; of ", group.name, " ", values, " of ", group.trials.size(), " have a value")
             : "";
}

// Among the amounts that differ, the one that best explains a total.
std::string amount_for(const Differences& found) {
  const auto differs = [&](const std::string& key) {
    return std::any_of(found.differences.begin(), found.differences.end(),
                       [&](const Difference& one) {
                         return one.key == key && one.kind == FactKind::amount &&
                                one.a.is_number() && one.b.is_number();
                       });
  };
  for (const char* key : {"epochs", "samples", "steps", "jobs_done", "jobs"})
    if (differs(key)) return key;
  for (const Difference& one : found.differences)
    if (one.kind == FactKind::amount && differs(one.key) && one.key != "planned_steps")
      return one.key;
  return "";
}

std::string singular(const std::string& amount) {
  if (amount == "jobs_done") return "job that was done";
  return amount.ends_with('s') ? amount.substr(0, amount.size() - 1) : amount;
}

// Whether `name` names the quantity. "auc" also names "best.auc".
bool is_named(const std::string& quantity, const std::string& name) {
  return quantity == name || quantity.ends_with("." + name);
}

// The names and their short forms, such as "best.auc" and "auc".
std::vector<std::string> short_names(std::vector<std::string> names) {
  for (std::size_t i = names.size(); i-- > 0;)
    if (const std::size_t dot = names[i].find('.'); dot != std::string::npos)
      names.push_back(names[i].substr(dot + 1));
  return names;
}

void direct(Quantity& quantity, const std::map<std::string, Better>& better) {
  for (const auto& [name, direction] : better)
    if (is_named(quantity.name, name)) quantity.better = direction;
}

constexpr std::size_t enough_to_resample = 20;

class Comparer {
 public:
  explicit Comparer(Comparison& comparison) : all_(comparison) {
    if (const auto flag = same_outcome_flag(all_.jobs, found_.differences)) {
      all_.flags.push_back(*flag);
      same_outcome_ = true;
    }
  }

  void rows() {
    for (Quantity quantity : measured_on_both(all_.a, all_.b)) {
      direct(quantity, all_.options.better);
      if (quantity.name == "sample_s" && same("global_batch")) continue;
      add(quantity);
      const std::string amount = quantity.total ? amount_for(found_) : "";
      if (!amount.empty()) add_per(quantity, amount);
    }
    if (std::optional<GoalTimes> goal = times_to_goal(all_.a, all_.b, all_.options.loss)) {
      all_.loss = goal->value;
      add_goal(*goal);
    } else if (all_.options.loss) {
      throw Error(
          "--loss is a value of the metric that runs of both sides were evaluated by, and there is "
          "none",
          "leave it out");
    }
    check_better();
  }

  Differences& found() { return found_; }

 private:
  // Throws Error if a direction is given for an absent metric, because that is a typing error.
  void check_better() const {
    for (const auto& [name, direction] : all_.options.better) {
      std::vector<std::string> names;
      for (const QuantityRow& row : all_.rows) names.push_back(row.what.name);
      if (std::any_of(names.begin(), names.end(),
                      [&, &name = name](const std::string& one) { return is_named(one, name); }))
        continue;
      const std::string near = nearest(name, short_names(names));
      throw Error(
          cat("--better ", printable(name), " was not measured on both sides"),
          near.empty() ? cat("these were: ", join(names, ", ")) : cat("did you mean ", near, "?"));
    }
  }

  bool same(const std::string& key) const {
    return std::find(found_.equal.begin(), found_.equal.end(), key) != found_.equal.end();
  }

  QuantityRow row_of(const Quantity& quantity, const std::string& per = "") {
    QuantityRow row{.what = quantity,
                    .a = values_of(all_.a, quantity.name, per, all_.options.paired),
                    .b = values_of(all_.b, quantity.name, per, all_.options.paired),
                    .per = per};
    row.what.value = 0;
    return row;
  }

  void finish(QuantityRow row) {
    judge(row, reasons_against(row.what, found_, all_.a.name, all_.b.name), all_.options);
    if (same_outcome_ && row.repeats_needed) {  // more repeats would give the same result
      row.repeats_needed.reset();
      row.text = "inconclusive: most jobs gave the same";
    }
    if (row.a.size() >= enough_to_resample && row.b.size() >= enough_to_resample)
      row.bootstrap = bootstrap_contrast(row.what.scale, row.a, row.b, row.contrast.paired,
                                         all_.options.confidence);
    const int fewest = std::min(row.contrast.count_a, row.contrast.count_b);
    if (row.what.aspect != Aspect::goal && row.conclusion != Conclusion::not_comparable &&
        fewest > 0)
      row.text += row.contrast.paired && fewest < static_cast<int>(all_.a.trials.size())
                      ? cat("; ", fewest, " of ", all_.a.trials.size(), " pairs have both values")
                      : missing_text(all_.a, row.contrast.count_a) +
                            missing_text(all_.b, row.contrast.count_b);
    all_.rows.push_back(std::move(row));
  }

  void add(const Quantity& quantity) { finish(row_of(quantity)); }

  void add_per(Quantity quantity, const std::string& amount) {
    QuantityRow row = row_of(quantity, amount);
    row.what.title += " per " + singular(amount);
    row.what.total = false;
    finish(std::move(row));
  }

  void add_goal(const GoalTimes& goal) {
    QuantityRow row{
        .what = {.name = "to_loss_s", .title = goal.title, .unit = "s", .aspect = Aspect::goal},
        .a = goal.a,
        .b = goal.b};
    const std::size_t all_a = all_.a.trials.size(), all_b = all_.b.trials.size();
    const bool all_there = goal.a.size() == all_a && goal.b.size() == all_b;
    finish(row);
    QuantityRow& added = all_.rows.back();
    if (all_there) return;
    added.contrast = {.scale = Scale::ratio,
                      .count_a = static_cast<int>(goal.a.size()),
                      .count_b = static_cast<int>(goal.b.size()),
                      .mean_a = NAN,
                      .mean_b = NAN,
                      .interval = {NAN, NAN, NAN},
                      .method = "none",
                      .unknown = "not every trial got there"};
    added.bootstrap.reset();
    added.repeats_needed.reset();
    if (added.conclusion == Conclusion::not_comparable) return;
    added.conclusion = Conclusion::inconclusive;
    added.text = cat("inconclusive: ", goal.b.size(), " of ", all_b, " got there, against ",
                     goal.a.size(), " of ", all_a);
  }

  Comparison& all_;
  Differences found_ = find_differences(all_.a, all_.b, all_.options);
  bool same_outcome_ = false;  // most jobs have the same outcome although their parameters differ
};

// The sum over the side's trials that counted such jobs.
std::optional<Count> count_of(const TrialGroup& group, const std::string& name) {
  std::optional<Count> sum;
  for (const Trial& trial : group.trials)
    if (const auto found = trial.counts.find(name); found != trial.counts.end()) {
      if (!sum) sum = Count{};
      sum->hits += found->second.first;
      sum->all += found->second.second;
    }
  return sum;
}

// Jobs that have this state on one side only. Nothing unless each side is one batch.
std::optional<OneSided> one_sided(const JobsMatched& jobs, const std::string& state) {
  if (!jobs.any) return std::nullopt;
  OneSided found;
  for (const JobRow& row : jobs.rows) {
    const bool in_a = row.state_a == state, in_b = row.state_b == state;
    if (in_a && !in_b) ++found.a;
    if (in_b && !in_a) ++found.b;
  }
  return found;
}

}  // namespace

Comparison compare(TrialGroup a, TrialGroup b, const CompareOptions& options) {
  if (a.trials.empty() || b.trials.empty())
    throw Error("a comparison needs a run on each side", "see lockstep compare --help");
  Comparison comparison{.a = std::move(a), .b = std::move(b), .options = options};
  comparison.jobs = match_jobs(comparison.a, comparison.b);
  Comparer comparer(comparison);
  comparer.rows();
  const bool repeated = comparison.a.trials.size() > 1 || comparison.b.trials.size() > 1;
  for (const char* name : {"failed", "skipped"}) {
    const std::optional<Count> of_a = count_of(comparison.a, name),
                               of_b = count_of(comparison.b, name);
    if (!of_a || !of_b || (of_a->hits == 0 && of_b->hits == 0)) continue;
    CountedJobs jobs{.a = *of_a, .b = *of_b, .repeated = repeated};
    if (!repeated) jobs.one_sided = one_sided(comparison.jobs, name);
    comparison.counts.push_back(judge_counts(name, jobs, options.confidence));
  }
  if (!repeated) comparison.jobs.pairs = pair_jobs(comparison.jobs, comparison.rows);
  const std::vector<RedFlag> flags =
      find_flags(comparison.a, comparison.b, comparer.found(), comparison.rows, options.margin);
  comparison.flags.insert(comparison.flags.end(), flags.begin(), flags.end());
  comparison.differences = std::move(comparer.found().differences);
  comparison.unknown = std::move(comparer.found().unknown);
  comparison.equal = std::move(comparer.found().equal);
  conclude(comparison);
  return comparison;
}

}  // namespace lockstep
