#include "tools/jobs/search/setting_search.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text/text.h"
#include "planning/words.h"
#include "runtime/run/events/json_lines.h"
#include "tools/jobs/job.h"
#include "tools/jobs/schedule/packing.h"

namespace lockstep {
namespace {

constexpr std::int64_t least_jobs = 4, least_rounds = 2;  // minimum of a trial
constexpr double least_s = 2, least_s_of_gpus = 5;        // GPUs are sampled once per second
constexpr int most_over = 4;  // jobs at once per core; if more help, jobs wait for something else
// share of the setting's concurrent jobs; with fewer, the setting was not reached
constexpr double enough_together = 0.75;
constexpr double memory_margin = 1.1;  // factor over the memory of the largest job
constexpr double same_shortfall = 2;   // percentage points that make no difference
constexpr double percent_of_one = 100;

BatchOutcome outcome_of_trial(const SettingTrial& trial) {
  return {.gpus = trial.gpus, .failed = trial.failed, .total = trial.done + trial.failed};
}

bool is_usable(const SettingTrial& trial) { return !trial.out_of_memory && trial.done > 0; }

std::string cores_text(double cpus) {
  return cat(general(cpus, 4), cpus == 1 ? " core" : " cores", " each");
}

std::string rate_of(const SettingTrial& trial) {
  const double rate = trial.per_minute();
  return cat(rate >= 100 ? fixed(rate, 0) : general(rate, 3), " jobs per minute");
}

nlohmann::json json_of(const SettingTrial& trial) {
  nlohmann::json gpus = nlohmann::json::array();
  for (const GpuActivity& gpu : trial.gpus) {
    nlohmann::json one{{"index", gpu.index}, {"samples", gpu.samples}};
    if (gpu.busy_percent) one["busy_percent"] = *gpu.busy_percent;
    if (gpu.sm_percent) one["sm_percent"] = *gpu.sm_percent;
    gpus.push_back(std::move(one));
  }
  return {{"combination", trial.setting.combination},
          {"at_once", trial.setting.at_once},
          {"cpus", trial.setting.cpus},
          {"seconds", trial.seconds},
          {"done", trial.done},
          {"failed", trial.failed},
          {"out_of_memory", trial.out_of_memory},
          {"together", trial.together},
          {"noise", trial.noise},
          {"job_bytes", trial.job_bytes},
          {"jobs_per_minute", trial.per_minute()},
          {"gpus", std::move(gpus)}};
}

// Throws nlohmann::json::exception.
SettingTrial trial_of(const nlohmann::json& value) {
  SettingTrial trial{.setting = {.combination = value.at("combination").get<int>(),
                                 .at_once = value.at("at_once").get<int>(),
                                 .cpus = value.at("cpus").get<double>()},
                     .seconds = value.at("seconds").get<double>(),
                     .done = value.at("done").get<std::int64_t>(),
                     .failed = value.at("failed").get<std::int64_t>(),
                     .out_of_memory = value.at("out_of_memory").get<bool>(),
                     .together = value.at("together").get<double>(),
                     .noise = value.at("noise").get<double>(),
                     .job_bytes = value.at("job_bytes").get<std::int64_t>()};
  for (const nlohmann::json& gpu : value.at("gpus")) {
    GpuActivity one{.index = gpu.at("index").get<int>(),
                    .samples = gpu.at("samples").get<long long>()};
    if (gpu.contains("busy_percent")) one.busy_percent = gpu["busy_percent"].get<double>();
    if (gpu.contains("sm_percent")) one.sm_percent = gpu["sm_percent"].get<double>();
    trial.gpus.push_back(one);
  }
  return trial;
}

nlohmann::json json_of(const SearchSpace& space) {
  nlohmann::json names = nlohmann::json::array();
  for (const SearchSpace::Combination& one : space.combinations) names.push_back(one.name);
  return {{"settings", std::move(names)}, {"cores", space.cores}, {"devices", space.devices}};
}

}  // namespace

SettingSearch::SettingSearch(SearchSpace space, std::vector<Expectation> targets)
    : space_(std::move(space)), targets_(std::move(targets)) {
  std::erase_if(targets_, [](const Expectation& target) { return !target.is_of_parts(); });
}

int SettingSearch::jobs_at_once(const JobSetting& setting) const {
  return setting.at_once * std::max(1, space_.devices);
}

TrialTimer::Needs SettingSearch::needs(const JobSetting& setting) const {
  const std::int64_t at_once = jobs_at_once(setting);
  const std::int64_t rounds = std::max(least_rounds, (least_jobs + at_once - 1) / at_once);
  return {.jobs = rounds * at_once,
          .at_once = at_once,
          .seconds = space_.devices > 0 ? least_s_of_gpus : least_s};
}

JobSetting SettingSearch::first(int combination) const {
  const double cpus = space_.combinations[static_cast<std::size_t>(combination)].cpus;
  const int most = most_over * space_.cores;
  const int by_cores =
      cpus > 0 ? std::clamp(static_cast<int>(space_.cores / cpus + 1e-9), 1, most) : most;
  JobSetting setting{.combination = combination, .at_once = by_cores, .cpus = cpus};
  if (space_.devices > 0)
    setting.at_once = std::clamp(by_cores / space_.devices, 1, space_.per_device);
  return setting;
}

// The settings next to this one. Jobs that request less than a core keep that share, because they
// wait most of the time.
std::vector<JobSetting> SettingSearch::beside(const JobSetting& setting) const {
  const bool whole = setting.cpus >= 1;
  const auto share_of_cores = [&](const JobSetting& of) {
    return std::max(1.0, std::floor(space_.cores / static_cast<double>(jobs_at_once(of))));
  };
  std::vector<JobSetting> all;
  JobSetting more = setting;
  more.at_once *= 2;
  if (whole) more.cpus = std::min(setting.cpus, share_of_cores(more));
  const int most = std::max(most_over * space_.cores, 2 * jobs_at_once(first(setting.combination)));
  if (jobs_at_once(more) <= most &&
      (space_.devices == 0 || more.at_once <= Packing::most_per_device))
    all.push_back(more);
  if (setting.at_once > 1) {
    JobSetting fewer = setting;
    fewer.at_once /= 2;
    if (whole && space_.devices == 0) fewer.cpus = std::max(setting.cpus, share_of_cores(fewer));
    all.push_back(fewer);
  }
  JobSetting wider = setting;
  wider.cpus *= 2;
  if (whole && wider.cpus * jobs_at_once(wider) <= space_.cores) all.push_back(wider);
  return all;
}

bool SettingSearch::is_tried(const JobSetting& setting) const {
  return std::any_of(trials_.begin(), trials_.end(),
                     [&](const SettingTrial& trial) { return trial.setting == setting; });
}

// Whether enough jobs are left for a trial, and the same number again to benefit from it. A trial
// takes a minimum time, so short jobs need more. Their number is estimated from the best known
// rate.
bool SettingSearch::has_jobs(const JobSetting& setting, const SearchRoom& room) const {
  const TrialTimer::Needs needed = needs(setting);
  auto jobs = static_cast<double>(needed.jobs);
  if (const SettingTrial* const known = best()) {
    const double more =
        std::max(1.0, static_cast<double>(jobs_at_once(setting)) / jobs_at_once(known->setting));
    jobs = std::max(jobs, more * known->per_minute() / 60 * needed.seconds);
  }
  return static_cast<double>(room.jobs.at(static_cast<std::size_t>(setting.combination))) >=
         2 * jobs;
}

bool SettingSearch::has_memory(const JobSetting& setting, const SearchRoom& room) const {
  std::int64_t job_bytes = 0;
  for (const SettingTrial& trial : trials_) {
    if (trial.out_of_memory && jobs_at_once(setting) >= jobs_at_once(trial.setting)) return false;
    job_bytes = std::max(job_bytes, trial.job_bytes);
  }
  if (space_.devices > 0 && setting.at_once > std::max(room.per_device, space_.per_device))
    return false;
  const double needed = memory_margin * static_cast<double>(job_bytes) * jobs_at_once(setting);
  return room.memory_bytes == 0 || needed <= static_cast<double>(room.memory_bytes);
}

// Why a setting cannot be tried now. "" if it can.
std::string SettingSearch::why_not(const JobSetting& setting, const SearchRoom& room) const {
  const SettingTrial* const from = best();
  if (from != nullptr && jobs_at_once(setting) > jobs_at_once(from->setting) &&
      from->together < enough_together * jobs_at_once(from->setting))
    return "fewer jobs ran at once than might have";
  if (!has_memory(setting, room)) return "memory does not hold it";
  return has_jobs(setting, room) ? "" : "too few jobs are left";
}

std::vector<JobSetting> SettingSearch::untried() const {
  std::vector<JobSetting> all;
  for (std::size_t i = 0; i < space_.combinations.size(); ++i)
    all.push_back(first(static_cast<int>(i)));
  const bool may_go_on = trials_.size() < space_.combinations.size() + most_trials;
  if (const SettingTrial* const from = best(); from != nullptr && may_go_on)
    for (const JobSetting& setting : beside(from->setting)) all.push_back(setting);
  std::erase_if(all, [&](const JobSetting& setting) { return is_tried(setting); });
  return all;
}

std::optional<JobSetting> SettingSearch::next(const SearchRoom& room) const {
  for (const JobSetting& setting : untried())
    if (why_not(setting, room).empty()) return setting;
  return std::nullopt;
}

std::string SettingSearch::untried_text(const SearchRoom& room) const {
  std::vector<std::string> all;
  for (const JobSetting& setting : untried())
    if (const std::string why = why_not(setting, room); !why.empty())
      all.push_back(cat(text(setting), " (", why, ")"));
  return all.empty() ? std::string() : cat("not tried: ", join(all, "; "));
}

double SettingSearch::shortfall(const SettingTrial& trial) const {
  double most = 0;
  for (const Expectation& target : targets_)
    most = std::max(most, target.shortfall(outcome_of_trial(trial)));
  return most;
}

bool SettingSearch::is_better(const SettingTrial& one, const SettingTrial& other) const {
  if (is_usable(one) != is_usable(other)) return is_usable(one);
  const double mine = shortfall(one), others = shortfall(other);
  if ((mine > 0) != (others > 0)) return others > 0;
  if (std::abs(mine - others) > same_shortfall) return mine < others;
  return is_clearly_faster(one, other);
}

const SettingTrial* SettingSearch::best() const {
  const SettingTrial* best = nullptr;
  for (const SettingTrial& trial : trials_)
    if (best == nullptr || is_better(trial, *best)) best = &trial;
  return best;
}

const SettingTrial* SettingSearch::choice() const {
  const SettingTrial* const found = best();
  return found != nullptr && is_usable(*found) ? found : nullptr;
}

std::string SettingSearch::text(const JobSetting& setting) const {
  const std::string& name = space_.combinations[static_cast<std::size_t>(setting.combination)].name;
  return cat(name, name.empty() ? "" : ": ", count_of(setting.at_once, "job"),
             space_.devices > 0 ? " per device" : " at once", ", ", cores_text(setting.cpus));
}

std::string SettingSearch::text(const SettingTrial& trial) const {
  std::vector<std::string> words{
      cat("tried ", text(trial.setting), ": ",
          trial.done > 0
              ? cat(rate_of(trial), " (+- ", fixed(percent_of_one * trial.noise, 0), " %)")
              : std::string("no job was done")),
      cat(count_of(trial.done + trial.failed, "job"), " in ", fixed(trial.seconds, 1), " s")};
  for (const GpuActivity& gpu : trial.gpus)
    words.push_back(cat("GPU ", gpu.index, " ",
                        gpu.busy_percent ? cat("busy ", fixed(*gpu.busy_percent, 0), " %")
                                         : std::string("not measured")));
  if (trial.done > 0 && trial.together < enough_together * jobs_at_once(trial.setting))
    words.push_back(cat("only ", fixed(trial.together, 1), " ran at once on average"));
  if (trial.failed > 0) words.push_back(cat(trial.failed, " failed"));
  if (trial.out_of_memory) words.emplace_back("memory ran out");
  return join(words, ", ");
}

std::string SettingSearch::choice_text() const {
  const SettingTrial* const chosen = choice();
  if (chosen == nullptr)
    return "no setting is chosen: none did a job without running out of memory";
  std::string text = cat("chosen: ", this->text(chosen->setting));
  if (chosen == &trials_.front())
    text += trials_.size() > 1 ? ", as the batch has it: nothing that was tried is better"
                               : ", as the batch has it: nothing else could be tried";
  else if (trials_.front().done > 0)
    text += cat(": ", fixed(chosen->per_minute() / trials_.front().per_minute(), 2),
                " x the jobs per minute of the first");
  std::vector<std::string> targets, alike;
  for (const Expectation& target : targets_) targets.push_back(target.text());
  if (!targets.empty())
    text += cat("; ", shortfall(*chosen) > 0 ? "none meets " : "it meets ", join(targets, ", "),
                shortfall(*chosen) > 0 ? ", and this one comes nearest" : "");
  for (const SettingTrial& trial : trials_)
    if (&trial != chosen && is_usable(trial) && !is_better(trial, *chosen) &&
        !is_better(*chosen, trial))
      alike.push_back(this->text(trial.setting));
  if (!alike.empty()) text += cat("; within the noise, as good: ", join(alike, "; "));
  return text;
}

std::string SettingSearch::json() const {
  nlohmann::json trials = nlohmann::json::array();
  for (const SettingTrial& trial : trials_) trials.push_back(json_of(trial));
  return to_line({{"space", json_of(space_)}, {"trials", std::move(trials)}});
}

bool SettingSearch::restore(const std::string& text) try {
  const nlohmann::json value = parse_object(text);
  if (value.is_discarded() || value.at("space") != json_of(space_)) return false;
  std::vector<SettingTrial> trials;
  for (const nlohmann::json& one : value.at("trials")) {
    trials.push_back(trial_of(one));
    const JobSetting& setting = trials.back().setting;
    if (setting.combination < 0 || setting.at_once < 1 || setting.at_once > most_slots ||
        static_cast<std::size_t>(setting.combination) >= space_.combinations.size() ||
        !(setting.cpus >= 0 && setting.cpus <= most_cpus))
      return false;
  }
  trials_ = std::move(trials);
  return true;
} catch (const nlohmann::json::exception&) {
  return false;
}

}  // namespace lockstep
