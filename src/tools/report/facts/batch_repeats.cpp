#include "tools/report/facts/batch_repeats.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/facts/result_facts.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* seed_parameter = "seed";
constexpr std::string_view times_left_out =
    "a part of a batch: its jobs shared the machine with the others, so that times are left out";

json parameters_of(const JobFacts& job) {
  json parameters = parse_json(job.parameters);
  return parameters.is_object() ? parameters : json::object();
}

std::string value_of(const json& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// The values of a parameter in the order of the jobs, each once.
std::vector<std::string> values_of_parameter(const Trial& batch, const std::string& name) {
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (const JobFacts& job : batch.jobs)
    if (const json parameters = parameters_of(job); parameters.contains(name))
      if (const std::string value = value_of(parameters, name); seen.insert(value).second)
        values.push_back(value);
  return values;
}

[[noreturn]] void throw_no_jobs(const Trial& batch, const ChosenParameters& chosen) {
  constexpr std::size_t most = 12;
  for (const auto& [name, value] : chosen) {
    std::vector<std::string> values = values_of_parameter(batch, name);
    if (std::find(values.begin(), values.end(), value) != values.end()) continue;
    if (values.size() > most) values.resize(most);
    throw Error(
        cat("no job of ", printable(batch.name), " has ", printable(name), "=", printable(value)),
        values.empty()
            ? cat("its jobs have no parameter ", printable(name))
            : cat("its jobs have ", printable(name), " = ", printable(join(values, ", "))));
  }
  throw Error(cat("no job of ", printable(batch.name), " has all of these parameters"),
              "lockstep batch status lists its jobs");
}

// Whether the result is a time, a rate, memory or energy.
bool is_of_machine(const std::string& result, const json& value) {
  return role_of_result(result, value) == ResultRole::quantity &&
         quantity_of_name(result).aspect != Aspect::quality;
}

// Removes values that other jobs on the same machine have influenced.
void forget_times(JobFacts& job) {
  job.begin = job.end = 0;
  std::erase_if(job.results, [](const auto& one) { return is_of_machine(one.first, one.second); });
}

}  // namespace

std::pair<std::string, ChosenParameters> split_choice(const std::string& word) {
  std::vector<std::string> parts = split(word, ':');
  ChosenParameters chosen;
  while (parts.size() > 1 && parts.back().find('=') != std::string::npos) {
    const std::size_t equals = parts.back().find('=');
    chosen.insert(chosen.begin(),
                  {parts.back().substr(0, equals), parts.back().substr(equals + 1)});
    parts.pop_back();
  }
  return {join(parts, ":"), chosen};
}

Trial choose_jobs(Trial batch, const ChosenParameters& chosen) {
  std::vector<JobFacts> jobs;
  for (JobFacts& job : batch.jobs) {
    json parameters = parameters_of(job);
    if (!std::all_of(chosen.begin(), chosen.end(), [&](const auto& one) {
          return parameters.contains(one.first) && value_of(parameters, one.first) == one.second;
        }))
      continue;
    for (const auto& [name, value] : chosen) {
      parameters.erase(name);
      if (name != seed_parameter) continue;
      job.results.erase("used.seed");  // the seed is a fact of the trial
      job.results.erase("asked.seed");
    }
    job.parameters = to_line(parameters);
    job.key.clear();  // the matching job has another key
    forget_times(job);
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) throw_no_jobs(batch, chosen);
  batch.jobs = std::move(jobs);
  batch.quantities.clear();
  if (std::find(batch.cautions.begin(), batch.cautions.end(), times_left_out) ==
      batch.cautions.end())
    batch.cautions.emplace_back(times_left_out);
  for (const auto& [name, value] : chosen) {
    batch.name += cat(":", name, "=", value);
    batch.path += cat(":", name, "=", value);
    if (name == seed_parameter)
      batch.set(name, FactKind::means, value);
    else
      batch.set("asked." + name, FactKind::note, value);
  }
  return batch;
}

std::vector<Trial> by_seed(Trial batch) {
  const std::vector<std::string> seeds = values_of_parameter(batch, seed_parameter);
  std::vector<Trial> trials;
  if (seeds.size() < 2) {
    trials.push_back(std::move(batch));
    return trials;
  }
  for (const std::string& seed : seeds) {
    trials.push_back(choose_jobs(batch, {{seed_parameter, seed}}));
    // only the first trial shows the cautions
    if (trials.size() > 1) trials.back().cautions.clear();
  }
  return trials;
}

}  // namespace lockstep
