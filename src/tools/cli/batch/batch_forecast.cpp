#include "tools/cli/batch/batch_forecast.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "planning/words.h"
#include "runtime/run/progress/forecast.h"
#include "tools/jobs/analysis/job_activity.h"
#include "tools/jobs/files/batch_shares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

// The mean time of a job on its own cores, and the source of this value.
struct JobTime {
  double seconds = 0;
  std::string from;
};

// How the jobs will run.
struct Wanted {
  double cpus = 1;  // cores per job
  bool on_gpus = false;
  std::int64_t at_once = 0;
};

// The mean number of attempts that ran at once, while any ran.
double mean_at_once(Ledger& ledger) {
  Statement rows(ledger.database(),
                 "SELECT started, ended FROM attempt WHERE outcome IS NOT NULL AND started > 0 "
                 "ORDER BY started");
  double all = 0, any = 0, until = 0;
  while (rows.step()) {
    const double begin = rows.number(0), end = std::max(begin, rows.number(1));
    all += end - begin;
    any += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return any > 0 ? all / any : 1;
}

int slots_used(Ledger& ledger) {
  Statement slots(ledger.database(), "SELECT max(slot) + 1 FROM attempt");
  return slots.step() ? static_cast<int>(slots.integer(0)) : 0;
}

// A job's time on its own cores divided by its time in the batch. At most 1.
double own_share(Ledger& ledger, const Wanted& wanted) {
  const auto cores = static_cast<double>(cores_of_machine(ledger));
  if (wanted.on_gpus || cores == 0) return 1;
  return std::min(1.0, cores / (mean_at_once(ledger) * wanted.cpus));
}

std::map<std::string, double> seconds_of_jobs(Ledger& ledger) {
  std::map<std::string, double> seconds;
  Statement rows(ledger.database(),
                 "SELECT job.name, ended - started FROM attempt JOIN job ON job.id = job WHERE "
                 "outcome = 'done' AND listed = 1 AND started > 0");
  while (rows.step()) seconds[rows.text(0)] = rows.number(1);
  return seconds;
}

// Whether the batch has jobs like these. Only folders are read. Opening a ledger changes the time
// of the batch's folder, by which users sort.
bool has_alike(const BatchFolder& batch, const DirectSetting& setting) {
  constexpr int most_looked_at = 200;
  int looked_at = 0;
  std::error_code ignored;
  for (const auto& job : fs::directory_iterator(batch.path / "jobs", ignored)) {
    if (++looked_at > most_looked_at) break;
    try {
      if (setting.is_alike(job.path())) return true;
    } catch (const Error&) {  // the folder belongs to another job
    }
  }
  return false;
}

std::optional<JobTime> time_in(const fs::path& folder, const DirectRecipe& recipe,
                               const DirectSetting& setting, const Wanted& wanted) {
  constexpr std::int64_t most_jobs = 200;
  const BatchFolder batch{folder};
  if (!has_alike(batch, setting)) return std::nullopt;
  Ledger ledger = ledger_to_read(batch);
  if (wanted.on_gpus && slots_used(ledger) != wanted.at_once) return std::nullopt;
  const std::map<std::string, double> seconds = seconds_of_jobs(ledger);
  double sum = 0;
  std::int64_t count = 0;
  for (const DirectJob& job : jobs_of_recipe(batch, ledger, recipe).jobs) {
    const auto took = seconds.find(job.name);
    if (job.state != "done" || took == seconds.end() || !setting.is_alike(job.folder)) continue;
    sum += took->second;
    if (++count == most_jobs) break;
  }
  if (count == 0) return std::nullopt;
  const double mean = sum / static_cast<double>(count), share = own_share(ledger, wanted);
  constexpr double crowded = 0.95;
  const std::string there =
      share > crowded ? ""
                      : cat(" (", format_seconds(mean), " with ", slots_used(ledger),
                            " at once on ", count_of(cores_of_machine(ledger), "core"), ")");
  return JobTime{mean * share,
                 cat("as ", count_of(count, "job"), " of ", batch_word(batch), " took", there)};
}

// Searches the newest batch first. Unreadable batches are skipped.
std::optional<JobTime> earlier_time(const fs::path& root, const DirectRecipe& recipe,
                                    const DirectSetting& setting, const Wanted& wanted) {
  constexpr std::size_t most_batches = 20;
  if (!setting.is_alike) return std::nullopt;
  // times are read once before sorting, because a batch that runs changes its ledger
  std::vector<std::pair<fs::file_time_type, fs::path>> batches;
  for (const fs::path& batch : batches_in(root)) {
    std::error_code ignored;
    batches.emplace_back(fs::last_write_time(BatchFolder{batch}.ledger(), ignored), batch);
  }
  std::sort(batches.rbegin(), batches.rend());
  if (batches.size() > most_batches) batches.resize(most_batches);
  for (const auto& [written, batch] : batches) try {
      if (auto time = time_in(batch, recipe, setting, wanted)) return time;
    } catch (const Error&) {
    }
  return std::nullopt;
}

// Runs one job and measures its time. The time includes reading data, which jobs in sequence share.
JobTime measured_time(const DirectRecipe& recipe, const Parsed& parsed,
                      const DirectSetting& setting) {
  Parsed one;
  if (parsed.has("--config")) one.values["--config"] = parsed.all("--config");
  one.assignments = setting.one_job;
  const std::unique_ptr<DirectOptions> options = resolve_direct(recipe, one);
  const TemporaryDirectory folder;
  const double begin = system_clock().now_s();
  const DirectResult result = options->train(
      {.folder = folder.path(), .name = "measured", .say = [](const std::string&) {}});
  if (result.status == DirectResult::Status::skipped)
    throw Error(cat("the job that was to be measured was skipped: ", result.why),
                "leave --measure out");
  return {system_clock().now_s() - begin, "as one took that was trained to measure it"};
}

}  // namespace

std::string batch_forecast_text(const DirectRecipe& recipe, const Parsed& parsed,
                                const DirectJobs& jobs) {
  constexpr std::size_t most_measured = 10;
  const DirectSetting& first = jobs.settings.at(0);
  if (std::any_of(jobs.settings.begin(), jobs.settings.end(), [&](const DirectSetting& setting) {
        return setting.cpus != first.cpus || setting.gpus != first.gpus;
      }))
    return "how long it takes is not known: jobs of different settings need different cores or "
           "GPUs";
  const JobRoom room = room_for_jobs(parsed, first.cpus, first.gpus);
  const auto at_once = std::min<std::int64_t>(room.jobs, jobs.jobs);
  const Wanted wanted{.cpus = first.cpus, .on_gpus = first.gpus != "0", .at_once = at_once};
  if (room.jobs == 0) return "how long it takes is not known: the jobs cannot run here";
  const bool measures = parsed.has("--measure");
  double seconds = 0;
  std::int64_t known = 0;
  std::set<std::string> from;
  for (std::size_t i = 0; i < jobs.settings.size(); ++i) {
    const DirectSetting& setting = jobs.settings[i];
    if (measures && i == most_measured) break;
    const std::optional<JobTime> time = measures
                                            ? measured_time(recipe, parsed, setting)
                                            : earlier_time(jobs.run_root, recipe, setting, wanted);
    if (!time) break;
    seconds += time->seconds * static_cast<double>(setting.jobs);
    known += setting.jobs;
    from.insert(time->from);
  }
  const bool all = known == jobs.jobs || (measures && known > 0);
  if (!all)
    return cat("how long it takes is not known: no batch in ", jobs.run_root.string(),
               " has had such jobs", known > 0 ? " of each setting" : "",
               wanted.on_gpus ? cat(", ", at_once, " at once") : "",
               "; --measure trains one to tell");
  const double each = seconds / static_cast<double>(known);
  const auto on_cores = wanted.on_gpus ? static_cast<double>(at_once)
                                       : std::max(1.0, std::floor(room.cores / wanted.cpus));
  const bool is_crowded = static_cast<double>(at_once) > on_cores;
  const double advance = std::min(static_cast<double>(at_once), on_cores);
  return cat("about ", format_seconds(each * static_cast<double>(jobs.jobs) / advance), ": ",
             count_of(jobs.jobs, "job"), ", ", at_once, " at once",
             is_crowded ? cat(" on ", count_of(room.cores, "core")) : "", ", ",
             format_seconds(each), is_crowded ? " each on cores of its own, " : " each, ",
             join(std::vector<std::string>(from.begin(), from.end()), "; "));
}

}  // namespace lockstep::cli
