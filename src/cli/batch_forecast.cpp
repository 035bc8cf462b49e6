#include "cli/batch_forecast.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/batch.h"
#include "jobs/batch_shares.h"
#include "plan/words.h"
#include "run/forecast.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

// The mean of jobs, with where it is from.
struct JobTime {
  double seconds = 0;
  std::string from;
};

std::map<std::string, double> seconds_of_jobs(Ledger& ledger) {
  std::map<std::string, double> seconds;
  Statement rows(ledger.database(),
                 "SELECT job.name, ended - started FROM attempt JOIN job ON job.id = job WHERE "
                 "outcome = 'done' AND listed = 1 AND started > 0");
  while (rows.step()) seconds[rows.text(0)] = rows.number(1);
  return seconds;
}

// By the folders alone: a ledger that is opened to read changes the time of the batch's folder, by
// which people sort.
bool has_alike(const BatchFolder& batch, const DirectSetting& setting) {
  constexpr int most_looked_at = 200;
  int looked_at = 0;
  std::error_code ignored;
  for (const auto& job : fs::directory_iterator(batch.path / "jobs", ignored)) {
    if (++looked_at > most_looked_at) break;
    try {
      if (setting.is_alike(job.path())) return true;
    } catch (const Error&) {  // a job of something else
    }
  }
  return false;
}

std::optional<JobTime> time_in(const fs::path& folder, const DirectRecipe& recipe,
                               const DirectSetting& setting) {
  constexpr std::int64_t most_jobs = 200;
  const BatchFolder batch{folder};
  if (!has_alike(batch, setting)) return std::nullopt;
  Ledger ledger = ledger_to_read(batch);
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
  return JobTime{sum / static_cast<double>(count),
                 cat("as ", count_of(count, "job"), " of ", batch_word(batch), " took")};
}

// Newest first. What cannot be read tells nothing.
std::optional<JobTime> earlier_time(const fs::path& root, const DirectRecipe& recipe,
                                    const DirectSetting& setting) {
  constexpr std::size_t most_batches = 20;
  if (!setting.is_alike) return std::nullopt;
  std::vector<std::pair<fs::file_time_type, fs::path>> batches;  // one that runs is written to
  for (const fs::path& batch : batches_in(root)) {
    std::error_code ignored;
    batches.emplace_back(fs::last_write_time(BatchFolder{batch}.ledger(), ignored), batch);
  }
  std::sort(batches.rbegin(), batches.rend());
  if (batches.size() > most_batches) batches.resize(most_batches);
  for (const auto& [written, batch] : batches) try {
      if (auto time = time_in(batch, recipe, setting)) return time;
    } catch (const Error&) {
    }
  return std::nullopt;
}

// Its data are read for it alone, which jobs that follow one another share.
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
                                const DirectJobs& jobs, int at_once) {
  constexpr std::size_t most_measured = 10;
  if (at_once == 0) return "how long it takes is not known: the jobs cannot run here";
  const bool measures = parsed.has("--measure");
  double seconds = 0;
  std::int64_t known = 0;
  std::set<std::string> from;
  for (std::size_t i = 0; i < jobs.settings.size(); ++i) {
    const DirectSetting& setting = jobs.settings[i];
    if (measures && i == most_measured) break;
    const std::optional<JobTime> time = measures ? measured_time(recipe, parsed, setting)
                                                 : earlier_time(jobs.run_root, recipe, setting);
    if (!time) break;
    seconds += time->seconds * static_cast<double>(setting.jobs);
    known += setting.jobs;
    from.insert(time->from);
  }
  const bool all = known == jobs.jobs || (measures && known > 0);
  if (!all)
    return cat("how long it takes is not known: no batch in ", jobs.run_root.string(),
               " has had such jobs", known > 0 ? " of each setting" : "",
               "; --measure trains one to tell");
  const double each = seconds / static_cast<double>(known);
  const auto together = static_cast<double>(std::min<std::int64_t>(at_once, jobs.jobs));
  return cat("about ", format_seconds(each * static_cast<double>(jobs.jobs) / together), ": ",
             count_of(jobs.jobs, "job"), ", ", static_cast<std::int64_t>(together), " at once, ",
             format_seconds(each), " each, ",
             join(std::vector<std::string>(from.begin(), from.end()), "; "));
}

}  // namespace lockstep::cli
