#include "tools/cli/abtest/abtest_result.h"

#include <cmath>
#include <limits>
#include <utility>

#include "core/base/text/text.h"
#include "tools/stats/trial_checks.h"

namespace lockstep::cli {
namespace {

using Value = std::function<double(const AbtestRun&)>;

double wall(const AbtestRun& measured) { return measured.wall_s; }
double processor(const AbtestRun& measured) { return measured.user_s + measured.system_s; }
double peak_of(const AbtestRun& measured) {
  return measured.peak_bytes ? static_cast<double>(*measured.peak_bytes)
                             : std::numeric_limits<double>::quiet_NaN();
}
double measured_value(const AbtestRun& measured) { return measured.value; }

AbtestRow row_of(const std::string& key, const std::string& name, Scale scale,
                 const AbtestTrial& trial, const Value& value, double confidence) {
  const std::vector<double> a = values_of(trial.pairs, AbtestSide::a, value);
  const std::vector<double> b = values_of(trial.pairs, AbtestSide::b, value);
  return {key, name, paired_contrast(scale, a, b, confidence),
          bootstrap_contrast(scale, a, b, true, confidence)};
}

std::string percent_apart(double ratio) {
  return cat(general(100 * std::abs(ratio - 1), 2), " % ", ratio > 1 ? "longer" : "shorter");
}

void flag_load(const OthersLoad& load, std::vector<std::string>& flags) {
  constexpr double much = 0.1;  // share of the machine's cores
  if (load.others_cores && *load.others_cores > much * load.cores)
    flags.push_back(cat(
        "other programs used ", fixed(*load.others_cores, 1), " of ", load.cores,
        " cores meanwhile",
        load.load_before ? cat(" (load average before: ", fixed(*load.load_before, 1), ")") : ""));
}

void flag_times(const AbtestSetup& setup, const AbtestTrial& trial,
                std::vector<std::string>& flags) {
  const std::vector<double> a = values_of(trial.pairs, AbtestSide::a, wall);
  const std::vector<double> b = values_of(trial.pairs, AbtestSide::b, wall);
  std::vector<char> b_first;
  for (const AbtestPair& pair : trial.pairs) b_first.push_back(pair.b_first ? 1 : 0);
  const double margin =
      setup.trial.rule.scale == Scale::ratio ? setup.trial.rule.margin : StoppingRule{}.margin;
  const TrialChecks checks = check_trial(a, b, b_first, margin);
  if (checks.drift)
    flags.push_back(cat("drift: in the second half of the trial both took ",
                        percent_apart(*checks.drift), " than in the first; pairs take that out"));
  if (checks.second_place)
    flags.push_back(cat("place: whoever ran second of a pair took ",
                        percent_apart(*checks.second_place),
                        "; the order is balanced, but what the first leaves behind matters"));
  if (checks.spread_a)
    flags.push_back(cat("spread: times of A vary by ", general(100 * *checks.spread_a, 2),
                        " %, those of B by ", general(100 * *checks.spread_b, 2), " %"));
  constexpr double short_s = 0.005;
  if (!setup.metric && !trial.pairs.empty()) {
    const Contrast times = paired_contrast(Scale::ratio, a, b);
    if (times.mean_a < short_s && times.mean_b < short_s)
      flags.push_back("the commands take less than 5 ms: much of that is the start of a process");
  }
}

std::vector<std::string> flags_of(const AbtestSetup& setup, const AbtestTrial& trial,
                                  const OthersLoad& load) {
  std::vector<std::string> flags;
  if (setup.a.words == setup.b.words) flags.push_back("both commands are the same");
  flag_load(load, flags);
  flag_times(setup, trial, flags);
  return flags;
}

// If larger values are better, A / B shows how much worse B is.
std::optional<bool> worse_than_limit(const AbtestSetup& setup, const AbtestTrial& trial) {
  if (!setup.fail_if_slower) return std::nullopt;
  std::vector<double> a = values_of(trial.pairs, AbtestSide::a, measured_value);
  std::vector<double> b = values_of(trial.pairs, AbtestSide::b, measured_value);
  if (setup.more_is_better) std::swap(a, b);
  return more_by(paired_contrast(Scale::ratio, a, b, setup.trial.rule.confidence),
                 *setup.fail_if_slower);
}

}  // namespace

AbtestResult abtest_result(const AbtestSetup& setup, const AbtestTrial& trial,
                           const OthersLoad& load) {
  const StoppingRule& rule = setup.trial.rule;
  AbtestResult result;
  const auto add = [&](const std::string& key, const std::string& name, Scale scale,
                       const Value& value) {
    result.rows.push_back(row_of(key, name, scale, trial, value, rule.confidence));
  };
  if (setup.metric) add("metric", "metric", rule.scale, measured_value);
  add("wall_s", "wall time", Scale::ratio, wall);
  add("cpu_s", "CPU time", Scale::ratio, processor);
  add("peak_bytes", "peak memory", Scale::ratio, peak_of);
  result.flags = flags_of(setup, trial, load);
  result.verdict = verdict_text(result.main(), rule.margin, setup.words(), rule.confidence);
  result.is_slower = worse_than_limit(setup, trial);
  return result;
}

}  // namespace lockstep::cli
