#include "tools/report/facts/batch_facts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <variant>

#include "core/base/error.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_summary.h"
#include "runtime/run/labels.h"
#include "tools/jobs/analysis/analysis.h"
#include "tools/jobs/files/batch_files.h"
#include "tools/jobs/files/batch_shares.h"
#include "tools/report/facts/gpu_facts.h"

namespace lockstep {
namespace {

using nlohmann::json;

constexpr const char* jobs_query =
    "SELECT job.id, job.name, job.key, state, started, ended, devices, last.id FROM job LEFT JOIN "
    "attempt AS last ON last.id = (SELECT max(id) FROM attempt WHERE attempt.job = job.id) WHERE "
    "listed != 0 ORDER BY job.id";

json number_or_text(const std::string& text) {
  const std::optional<double> number = to_number(text);
  return number && std::isfinite(*number) ? json(*number) : json(text);
}

// Adds settings from the command for values that the job reports as used, such as "num_leaves=255"
// or "--num-leaves 255".
void add_asked(const Job& job, std::map<std::string, json>& results) {
  std::map<std::string, json> asked;
  const auto set = [&](std::string name, const std::string& value) {
    std::replace(name.begin(), name.end(), '-', '_');
    if (results.contains("used." + name)) asked["asked." + name] = number_or_text(value);
  };
  for (std::size_t i = 0; i < job.command.size(); ++i) {
    const std::string& word = job.command[i];
    const std::size_t begin = std::min(word.find_first_not_of('-'), word.size()),
                      equals = word.find('=');
    if (equals != word.npos && equals > begin)
      set(word.substr(begin, equals - begin), word.substr(equals + 1));
    else if (begin > 0 && i + 1 < job.command.size())
      set(word.substr(begin), job.command[i + 1]);
  }
  for (const auto& [name, value] : job.parameters) set(name, value);
  results.merge(asked);
}

std::string parameters_text(const Job& job) {
  if (job.parameters.empty()) return "";
  json parameters = json::object();
  for (const auto& [name, value] : job.parameters) parameters[name] = value;
  return to_line(parameters);
}

std::vector<JobFacts> read_job_facts(Ledger& ledger) {
  std::vector<JobFacts> jobs;
  DeviceLists lists;
  Statement rows(ledger.database(), jobs_query);
  while (rows.step()) {
    JobFacts facts{.name = rows.text(1), .key = rows.text(2), .state = rows.text(3)};
    if (!rows.is_null(4) && !rows.is_null(5) && rows.number(5) >= rows.number(4)) {
      facts.begin = rows.number(4);
      facts.end = rows.number(5);
    }
    facts.devices = lists.of(rows.text(6));
    const Job job = ledger.job(rows.integer(0));
    facts.parameters = parameters_text(job);
    if (!rows.is_null(7))
      for (const JobResult& result : ledger.results(rows.integer(7)))
        facts.results[result.name] =
            std::visit([](const auto& value) { return json(value); }, result.value);
    add_asked(job, facts.results);
    jobs.push_back(std::move(facts));
  }
  return jobs;
}

// The facts about the machine from the batch's latest start. For a batch with shares, those of the
// first share.
json machine_of(const BatchFolder& batch) {
  for (const BatchFolder& part : parts_of(batch)) {
    json machine = parse_json(Ledger::open_to_read(part.ledger()).fact("machine"));
    if (machine.is_object()) return machine;
  }
  return json::object();
}

void add_machine(const json& machine, Trial& trial) {
  const auto place = FactKind::place;
  std::set<std::string> used;
  for (const JobFacts& job : trial.jobs)
    if (job.devices) used.insert(job.devices->begin(), job.devices->end());
  const auto text = [&](const char* key) {
    const std::string found = text_or(machine, key, "");
    return found.empty() ? json() : json(found);
  };
  if (used.empty()) {
    trial.set("devices", place, "no GPU");
  } else {
    json named = json::array();
    if (machine.contains("gpus") && machine["gpus"].is_array())
      for (const json& device : machine["gpus"])
        if (used.contains(text_or(device, "uuid", ""))) named.push_back(device);
    trial.set("devices", place, named.size() == used.size() ? json(devices_text(named)) : json());
    trial.set("device_count", FactKind::note, used.size());
    trial.set("device_ids", place, used);
    trial.set("driver", place, text("driver"));
  }
  trial.set("cpu", place, text("cpu"));
  const double cores = number_or(machine, "cores", 0);
  trial.set("cores", place, cores > 0 ? json(cores) : json());
  trial.set("host", place, text("host"));
  trial.set("lockstep", FactKind::means, text("lockstep"));
  const double slots = number_or(machine, "slots", 0);
  if (machine.contains("slots"))  // older batches did not record it
    trial.set("slots", FactKind::means, slots > 0 ? json(slots) : text("slots"));
}

// For example, "once, for 12.3 s". Pauses are included.
std::string stops_of(const BatchAnalysis& analysis) {
  const std::vector<BatchGap> gaps = analysis.running.gaps();
  if (gaps.empty()) return "never";
  double seconds = 0;
  for (const BatchGap& gap : gaps) seconds += gap.end - gap.begin;
  return cat(gaps.size() == 1 ? "once" : cat(gaps.size(), " times"), ", for ", fixed(seconds, 1),
             " s");
}

void add_analysis(const BatchAnalysis& analysis, Trial& trial) {
  if (analysis.spans.empty()) return;
  trial.measure({.name = "wall_s", .title = "time of the batch", .unit = "s", .total = true},
                analysis.running.seconds());
  // Lost attempts ran at unknown times, so stops are unknown too.
  if (!analysis.running.has_lost) trial.set("stopped", FactKind::means, stops_of(analysis));
  trial.measure({.name = "jobs_at_once",
                 .title = "jobs at once, mean",
                 .scale = Scale::difference,
                 .better = Better::unknown,
                 .aspect = Aspect::use},
                analysis.busy_slots);
  if (analysis.energy_kwh)
    trial.measure({.name = "energy_j",
                   .title = "energy of the GPUs",
                   .unit = "J",
                   .aspect = Aspect::energy,
                   .total = true},
                  *analysis.energy_kwh * 3.6e6);
  double least = INFINITY, most = 0;
  for (const DeviceUse& use : analysis.devices) {
    least = std::min(least, use.job_s);
    most = std::max(most, use.job_s);
  }
  if (analysis.devices.size() > 1 && most > 0)
    trial.measure({.name = "job_balance",
                   .title = "balance of jobs over GPUs (least / most)",
                   .scale = Scale::difference,
                   .better = Better::higher,
                   .aspect = Aspect::use},
                  least / most);
}

// Adds the GPU logs of all shares for the time in which jobs ran. Energy and balance are taken from
// the analysis instead.
void add_gpu_log(const BatchFolder& batch, const BatchAnalysis& analysis, Trial& trial) {
  Trial seen;
  try {
    std::vector<std::filesystem::path> logs;
    for (const BatchFolder& part : parts_of(batch))
      if (open_in_batch(part, BatchFolder{}.gpu_log())) logs.push_back(part.gpu_log());
    add_gpu_facts(read_gpu_use(logs, analysis.running.stretches), seen);
  } catch (const Error& error) {
    trial.cautions.push_back(cat("gpu.csv is left out: ", error.what()));
  }
  trial.facts.merge(seen.facts);
  for (Quantity& quantity : seen.quantities)
    if (trial.find(quantity.name) == nullptr) trial.quantities.push_back(std::move(quantity));
}

void add_batch_cautions(Trial& trial, const std::vector<std::string>& left_out) {
  std::map<std::string, std::int64_t> states;
  for (const JobFacts& job : trial.jobs) ++states[job.state];
  for (const char* state : {"waiting", "running", "cancelled"})
    if (states[state] > 0)
      trial.cautions.push_back(
          cat(states[state], " of its jobs ", states[state] == 1 ? "is " : "are ", state));
  if (!left_out.empty()) trial.cautions.push_back(left_out_note(left_out));
}

}  // namespace

std::string left_out_note(const std::vector<std::string>& lines) {
  constexpr std::size_t most_named = 5;
  if (lines.size() == 1) return cat("left out: ", lines[0]);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lines.size() && i < most_named; ++i)
    names.push_back(lines[i].substr(0, lines[i].find(": ")));
  const std::size_t more = lines.size() - names.size();
  return cat(lines.size(), " are left out: ", join(names, ", "),
             more > 0 ? cat(" and ", more, " more") : "", "; lockstep batch status says why");
}

Trial read_batch_facts(const BatchFolder& batch) {
  Trial trial{.name = batch.path.filename().string(),
              .path = std::filesystem::absolute(batch.path).lexically_normal().string(),
              .source = "batch"};
  BatchAnalysis analysis = analyze(batch);
  add_analysis(analysis, trial);
  // The list has an entry per job, possibly a million. `= {}` would keep the capacity.
  analysis.spans = std::vector<AttemptSpan>();
  Ledger ledger = ledger_to_read(batch);
  trial.jobs = read_job_facts(ledger);
  add_machine(machine_of(batch), trial);
  add_gpu_log(batch, analysis, trial);
  const RunLabels labels = read_labels(batch.path, nullptr);
  if (!labels.tags.empty()) trial.set("tags", FactKind::note, labels.tags);
  if (!labels.note.empty()) trial.set("note", FactKind::note, labels.note);
  add_batch_cautions(trial, ledger.left_out());
  return trial;
}

}  // namespace lockstep
