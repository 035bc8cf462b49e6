#include "tools/report/comparison/job_match.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "tools/report/comparison/job_pairs.h"
#include "tools/report/facts/result_facts.h"

namespace lockstep {
namespace {

using nlohmann::json;
using Identity = std::function<const std::string&(const JobFacts&)>;
// A trial may have a million jobs, so names and parameters are not copied.
using JobsById = std::unordered_map<std::string_view, const JobFacts*>;
using Names = std::vector<std::string_view>;

std::vector<Trial*> trials_of(TrialGroup& a, TrialGroup& b) {
  std::vector<Trial*> trials;
  for (TrialGroup* group : {&a, &b})
    for (Trial& trial : group->trials) trials.push_back(&trial);
  return trials;
}

JobsById by_identity(const Trial& trial, const Identity& identity) {
  JobsById jobs;
  jobs.reserve(trial.jobs.size());
  for (const JobFacts& job : trial.jobs) jobs.emplace(identity(job), &job);
  return jobs;
}

// Identities that all trials have, in the order of the first trial. Empty if two jobs of a trial
// have the same identity.
Names common(const std::vector<Trial*>& trials, const std::vector<JobsById>& jobs,
             const Identity& identity) {
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (jobs[i].size() != trials[i]->jobs.size()) return {};
  Names names;
  for (const JobFacts& job : trials[0]->jobs) {
    const std::string& name = identity(job);
    if (!name.empty() && std::all_of(jobs.begin(), jobs.end(),
                                     [&](const JobsById& of) { return of.contains(name); }))
      names.push_back(name);
  }
  return names;
}

struct Matched {
  Names names;
  std::vector<JobsById> jobs;  // one map per trial
  std::string by;
};

Matched match(const std::vector<Trial*>& trials) {
  const std::pair<const char*, Identity> ways[] = {
      {"parameters", [](const JobFacts& job) -> const std::string& { return job.parameters; }},
      {"name", [](const JobFacts& job) -> const std::string& { return job.name; }}};
  Matched best;
  for (const auto& [by, identity] : ways) {
    Matched found{.by = by};
    for (const Trial* trial : trials) found.jobs.push_back(by_identity(*trial, identity));
    found.names = common(trials, found.jobs, identity);
    if (best.by.empty() || found.names.size() > best.names.size()) best = std::move(found);
    if (best.names.size() == trials[0]->jobs.size()) break;  // more matches are impossible
  }
  return best;
}

// The number of other jobs that ran at the same time as these.
std::int64_t beside(const Trial& trial, const std::vector<const JobFacts*>& matched) {
  double begin = INFINITY, end = -INFINITY;
  for (const JobFacts* job : matched) {
    if (job->begin <= 0) continue;
    begin = std::min(begin, job->begin);
    end = std::max(end, job->end);
  }
  return std::count_if(trial.jobs.begin(), trial.jobs.end(), [&](const JobFacts& job) {
    return job.begin > 0 && job.begin < end && job.end > begin &&
           !std::binary_search(matched.begin(), matched.end(), &job, std::less<>());
  });
}

class TrialJobs {
 public:
  TrialJobs(Trial& trial, const Matched& matched, const JobsById& jobs)
      : trial_(trial), names_(matched.names), jobs_(jobs) {
    for (const std::string_view name : names_) matched_.push_back(jobs_.at(name));
    std::sort(matched_.begin(), matched_.end(), std::less<>());
  }

  void add_facts(bool same_keys) {
    const auto amount = FactKind::amount;
    trial_.set("jobs", amount, trial_.jobs.size());
    trial_.set("jobs_done", amount, state_count("done"));
    trial_.set("jobs_beside", FactKind::place, beside(trial_, matched_));
    const std::size_t others = trial_.jobs.size() - names_.size();
    trial_.set("job_list", amount,
               others == 0 ? "those of both" : cat(others, " that ", trial_.name, " alone has"));
    if (same_keys) trial_.set("options", FactKind::work, "listed");
    for (const char* word : {"failed", "skipped"})
      trial_.counts[word] = {state_count(word), static_cast<std::int64_t>(names_.size())};
    add_reported_facts();
  }

  // done: jobs that were done in all trials.
  void add_quantities(const Names& done) {
    if (done.empty()) return;
    double seconds = 0;
    for (const std::string_view name : done) seconds += jobs_.at(name)->seconds();
    trial_.measure({.name = "job_s", .title = "mean time of a job", .unit = "s"},
                   seconds / static_cast<double>(done.size()));
  }

  void add_mean(const std::string& result, const Names& jobs) {
    double sum = 0;
    for (const std::string_view name : jobs)
      sum += jobs_.at(name)->results.at(result).get<double>();
    Quantity quantity = quantity_of_name(result);
    quantity.title += cat(", mean of ", jobs.size(), jobs.size() == 1 ? " job" : " jobs");
    quantity.total = false;
    trial_.measure(quantity, sum / static_cast<double>(jobs.size()));
  }

 private:
  std::int64_t state_count(const std::string& state) const {
    return std::count_if(matched_.begin(), matched_.end(),
                         [&](const JobFacts* job) { return job->state == state; });
  }

  // Adds one value if all jobs report the same, or else a value per job.
  void add_reported_facts() {
    struct Reported {
      std::string_view name;  // name of the first job
      const json* value;
      bool same = true;
    };
    std::map<std::string, Reported> reported;
    for (const std::string_view name : names_)
      for (const auto& [result, value] : jobs_.at(name)->results) {
        Reported& known = reported.try_emplace(result, Reported{name, &value}).first->second;
        known.same = known.same && value == *known.value;
        if (name < known.name) std::tie(known.name, known.value) = std::pair(name, &value);
      }
    for (const auto& [result, known] : reported) {
      const json& first = *known.value;
      const ResultRole role = role_of_result(result, first);
      if (result.starts_with("used.")) trial_.set("options", FactKind::work, "listed");
      if (role == ResultRole::outcome) continue;  // an outcome describes a job and not the batch
      if (role == ResultRole::quantity && !result.starts_with("asked.")) continue;
      trial_.set(result, result.starts_with("asked.") ? FactKind::note : kind_of_role(role),
                 known.same ? first : values_by_job(result));
    }
  }

  json values_by_job(const std::string& result) const {
    json values = json::object();
    for (const std::string_view name : names_) {
      const auto& results = jobs_.at(name)->results;
      if (const auto found = results.find(result); found != results.end())
        values[std::string(name)] = found->second;
    }
    return values;
  }

  Trial& trial_;
  const Names& names_;
  const JobsById& jobs_;
  std::vector<const JobFacts*> matched_;  // sorted by address
};

Names done_in_all(const Matched& matched) {
  Names names;
  for (const std::string_view name : matched.names)
    if (std::all_of(matched.jobs.begin(), matched.jobs.end(), [&](const JobsById& jobs) {
          return jobs.at(name)->state == "done" && jobs.at(name)->begin > 0;
        }))
      names.push_back(name);
  return names;
}

bool same_content(const Matched& matched) {
  return std::all_of(matched.names.begin(), matched.names.end(), [&](const std::string_view name) {
    const std::string& key = matched.jobs[0].at(name)->key;
    return !key.empty() &&
           std::all_of(matched.jobs.begin(), matched.jobs.end(),
                       [&](const JobsById& jobs) { return jobs.at(name)->key == key; });
  });
}

bool reports_number(const JobFacts& job, const std::string& result) {
  const auto found = job.results.find(result);
  return found != job.results.end() && found->second.is_number() &&
         role_of_result(result, found->second) == ResultRole::quantity;
}

// Numbers that jobs report. For each, the jobs that reported it in all trials.
std::map<std::string, Names> numbers_in_all(const Matched& matched) {
  std::map<std::string, Names> found;
  for (const std::string_view name : matched.names)
    for (const auto& reported : matched.jobs[0].at(name)->results) {
      const std::string& result = reported.first;
      if (result.starts_with("asked.")) continue;
      if (std::all_of(matched.jobs.begin(), matched.jobs.end(),
                      [&](const JobsById& jobs) { return reports_number(*jobs.at(name), result); }))
        found[result].push_back(name);
    }
  return found;
}

// Adds the jobs as facts of the trials. Returns how the jobs of all trials were matched.
Matched add_jobs(const std::vector<Trial*>& trials) {
  Matched matched = match(trials);
  const Names done = done_in_all(matched);
  const bool same_keys = same_content(matched) && !matched.names.empty();
  const auto numbers = numbers_in_all(matched);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    TrialJobs jobs(*trials[i], matched, matched.jobs[i]);
    jobs.add_facts(same_keys);
    jobs.add_quantities(done);
    for (const auto& [name, of] : numbers) jobs.add_mean(name, of);
  }
  return matched;
}

using JobOfTrials = std::vector<RepeatOfJob>;  // the same job in each trial

// The seed of all jobs of the trial. The jobs report it, or the choice of jobs gives it. A choice
// has the seed as a text, and reports have it as a number.
std::string seed_of(const Trial& trial) {
  json seed = trial.value("used.seed");
  if (seed.is_null()) seed = trial.value("seed");
  // the seed differs between jobs, or is unknown
  if (seed.is_object() || seed.is_null()) return "";
  if (seed.is_string()) return seed.get<std::string>();
  return seed.is_number_float() ? general(seed.get<double>(), 17) : seed.dump();
}

JobRow row_of(const JobOfTrials& all_a, const JobOfTrials& all_b, std::set<std::string>& changed) {
  const JobFacts &a = *all_a.front().job, &b = *all_b.front().job;
  JobRow row{.name = a.name,
             .state_a = a.state,
             .state_b = b.state,
             .seconds_a = a.seconds(),
             .seconds_b = b.seconds(),
             .results = {},
             .outcome = outcome_of(all_a, all_b, &changed)};
  for (const auto& [name, value] : a.results) {
    const auto other = b.results.find(name);
    if (value.is_number() && other != b.results.end() && other->second.is_number())
      row.results[name] = {value.get<double>(), other->second.get<double>()};
  }
  return row;
}

}  // namespace

JobsMatched match_jobs(TrialGroup& a, TrialGroup& b) {
  const std::vector<Trial*> trials = trials_of(a, b);
  for (const Trial* trial : trials)
    if (trial->jobs.empty()) return {};
  const Matched matched = add_jobs(trials);
  JobsMatched result{
      .any = true, .matched = static_cast<std::int64_t>(matched.names.size()), .by = matched.by};
  result.only_a = static_cast<std::int64_t>(a.trials[0].jobs.size()) - result.matched;
  result.only_b = static_cast<std::int64_t>(b.trials[0].jobs.size()) - result.matched;
  std::vector<std::string> seeds;
  for (const Trial* trial : trials) seeds.push_back(seed_of(*trial));
  const auto jobs_of = [&](std::string_view name, std::size_t from, std::size_t to) {
    JobOfTrials jobs;
    for (std::size_t i = from; i < to; ++i) jobs.push_back({matched.jobs[i].at(name), seeds[i]});
    return jobs;
  };
  const std::size_t in_a = a.trials.size();
  result.rows.reserve(matched.names.size());
  for (const std::string_view name : matched.names)
    result.rows.push_back(row_of(jobs_of(name, 0, in_a), jobs_of(name, in_a, matched.jobs.size()),
                                 result.changed_nothing));
  return result;
}

void add_own_jobs(Trial& trial) {
  if (!trial.jobs.empty()) add_jobs({&trial});
}

}  // namespace lockstep
