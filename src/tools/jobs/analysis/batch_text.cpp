#include "tools/jobs/analysis/batch_text.h"

#include <algorithm>
#include <utility>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "tools/jobs/analysis/job_activity.h"
#include "tools/jobs/analysis/running_time.h"
#include "tools/jobs/files/batch_files.h"
#include "tools/jobs/job_names.h"

namespace lockstep {
namespace {

constexpr std::int64_t most_failures = 20, most_slowest = 5, most_notes = 10;
constexpr std::size_t tail_bytes = 8 << 10;  // bytes at the end of a log

std::string plural(std::int64_t count, const char* one, const char* many) {
  return cat(count, " ", count == 1 ? one : many);
}

std::string counted(std::int64_t count, const char* word) {
  return count == 0 ? std::string() : cat(", ", count, " ", word);
}

std::string where(const std::optional<Placement>& placement, const std::vector<Device>& devices) {
  if (!placement) return "later";
  std::vector<std::string> names;
  for (const int device : placement->devices)
    names.push_back(cat("GPU ", devices[static_cast<std::size_t>(device)].index));
  if (names.empty()) return cat("slot ", placement->slot);
  return cat("slot ", placement->slot, ", ", join(names, " and "));
}

std::string asked_gpus(const GpuRequest& gpus) {
  switch (gpus.kind) {
    case GpuRequest::Kind::none:
      return "0";
    case GpuRequest::Kind::whole:
      return cat(gpus.devices);
    case GpuRequest::Kind::share:
      return general(gpus.share, 4);
    case GpuRequest::Kind::automatic:
      return "auto";
  }
  return {};
}

std::string quoted(const std::string& word) {
  const bool plain =
      !word.empty() && word.find_first_of(" \t\n'\"\\$`*?;&|<>(){}[]#~!") == word.npos;
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_text(const Job& job) {
  std::vector<std::string> words;
  for (const std::string& word : job.command) words.push_back(job.shell ? word : quoted(word));
  return join(words, " ");
}

// Whether jobs ran on the devices that they were given.
std::string placements_text(Database& database) {
  Statement rows(database,
                 "SELECT sum(placement = 'verified'), sum(placement = 'wrong'), "
                 "sum(placement = 'unverifiable'), sum(placement = 'unseen'), count(placement) "
                 "FROM attempt WHERE placement IS NOT NULL");
  if (!rows.step() || rows.integer(4) == 0) return {};
  return cat("places of attempts on GPUs: ", rows.integer(0), " verified, ", rows.integer(1),
             " wrong, ", rows.integer(2), " cannot be verified (process numbers of the host), ",
             rows.integer(3), " too short to tell, or without the GPU\n");
}

// The number of finished jobs that a power loss would undo.
std::string unsynced_text(Ledger& ledger) {
  const std::int64_t jobs = ledger.unsynced();
  return jobs == 0
             ? std::string()
             : cat("; ", jobs, " of them ended just now, and would run again after a power loss");
}

std::string notes_text(Database& database) {
  std::string text;
  Statement rows(database, "SELECT text FROM note ORDER BY id DESC LIMIT ?");
  rows.bind(1, most_notes);
  while (rows.step()) text = cat("  ", printable(rows.text(0)), "\n", text);
  return text;
}

}  // namespace

std::string counts_text(const BatchCounts& counts) {
  return cat(counts.done, " done", counted(counts.failed, "failed"),
             counted(counts.skipped, "skipped"), counted(counts.cancelled, "cancelled"),
             counted(counts.blocked, "wait for jobs that did not succeed"),
             counted(counts.left() - counts.running, "left"), counted(counts.running, "running"),
             " of ", counts.total);
}

std::string counts_text(const std::map<JobState, std::int64_t>& counts) {
  const auto count = [&](JobState state) {
    const auto found = counts.find(state);
    return found == counts.end() ? 0 : found->second;
  };
  BatchCounts all{.done = count(JobState::done),
                  .failed = count(JobState::failed),
                  .skipped = count(JobState::skipped),
                  .cancelled = count(JobState::cancelled),
                  .running = count(JobState::running)};
  for (const auto& [state, number] : counts) all.total += number;
  return counts_text(all);
}

std::string begin_text(const BatchFolder& batch, const AddedJobs& added,
                       const BatchResources& resources, const std::vector<Device>& devices) {
  std::string text =
      cat("batch ", batch.path.string(), ": ", plural(added.added + added.known, "job", "jobs"));
  if (added.known > 0) text += cat(" (", added.added, " new)");
  if (added.left_out > 0) text += cat(", ", added.left_out, " no longer listed");
  if (added.renamed > 0)
    text += cat(", ",
                plural(added.renamed, "has the name of an earlier job: it is jobs/",
                       "have the names of earlier jobs: the first is jobs/"),
                added.first_renamed);
  text += cat("; ", plural(static_cast<std::int64_t>(resources.cores.size()), "core", "cores"));
  if (resources.slots > 0) text += cat(", at most ", resources.slots, " at once");
  for (const Device& device : devices) text += cat(", ", describe(device));
  return text;
}

std::string crowded_note(Ledger& ledger, const BatchResources& resources) {
  Statement left(ledger.database(),
                 "SELECT count(*), min(cpus), max(cpus), max(gpus) FROM job WHERE listed = 1 AND "
                 "state = 'waiting'");
  if (resources.slots == 0 || !left.step() || left.integer(0) < 2) return "";
  // GPUs may be the limit
  if (left.integer(3) != static_cast<int>(GpuRequest::Kind::none)) return "";
  const auto cores = static_cast<std::int64_t>(resources.cores.size());
  // With as many slots as cores, or fewer, each job has its own cores.
  if (resources.slots <= cores) return "";
  const auto together = std::min<std::int64_t>(resources.slots, left.integer(0));
  const double cpus = left.number(1), most = left.number(2);
  if (static_cast<double>(together) * cpus <= static_cast<double>(cores)) return "";
  return cat("--slots ", resources.slots, " on ", plural(cores, "core", "cores"), ": ", together,
             " jobs", most > 1 && most == cpus ? cat(" of ", general(cpus, 4), " cores each") : "",
             " at once share them, and each takes longer for it");
}

std::string dry_run_text(const JobList& list, const BatchResources& resources,
                         const std::vector<Device>& devices) {
  Resources free(resources);
  std::vector<std::vector<std::string>> rows{{"job", "name", "cpus", "gpus", "where", "command"}};
  for (const Job& job : list.jobs) {
    const QueuedJob queued{.id = job.number, .cpus = job.cpus, .gpus = job.gpus};
    const std::string never = free.never(queued);
    const bool waits = !job.after.empty();
    rows.push_back({cat(job.number), job.name, general(job.cpus, 4), asked_gpus(job.gpus),
                    !never.empty() ? never
                    : waits        ? std::string("after others")
                                   : where(free.place(queued), devices),
                    command_text(job)});
  }
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(std::move(cell));
  std::vector<int> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      widths[i] = std::max(widths[i], cells_of(row[i]));
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) text += pad_cells(row[i], widths[i] + 2);
    text += row.back() + "\n";
  }
  return text + cat(plural(static_cast<std::int64_t>(list.jobs.size()), "job", "jobs"), "\n");
}

std::string failure_text(const BatchFolder& batch, const RunningAttempt& running,
                         const Settled& settled) {
  std::string text = cat("job ", shown_name(running.job), " ", to_string(settled.end.outcome));
  if (settled.end.reason != to_string(settled.end.outcome) && !settled.end.reason.empty())
    text += cat(": ", printable(settled.end.reason));
  if (settled.state == JobState::waiting) text += "; it will be tried again";
  const std::string& name = running.job.name;
  const int number = running.attempt.number;
  const std::string line = clean_cells(log_end(batch, name, number, 1, tail_bytes));
  if (!line.empty()) text += cat("\n  ", printable(batch.log(name, number).string()), ": ", line);
  return text;
}

namespace {

// A line for each of the first parts that were left out.
std::string left_out_text(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < most_failures; ++i)
    text += cat("left out: ", printable(lines[i]), "\n");
  if (lines.size() > most_failures)
    text += cat("and ", lines.size() - most_failures, " more that are left out\n");
  return text;
}

// For example, "; 8 slots on 2 cores". Jobs that shared cores took longer. "" if there were enough
// cores.
std::string crowded_text(Ledger& ledger) {
  Statement last(ledger.database(), "SELECT max(slot) + 1 FROM attempt");
  const std::int64_t cores = cores_of_machine(ledger);
  if (cores == 0 || !last.step() || last.integer(0) <= cores) return "";
  return cat("; ", last.integer(0), " slots on ", plural(cores, "core", "cores"));
}

// The command that reads the data again, for jobs that have no result because of the data.
std::string take_up_text(Ledger& ledger) {
  const std::string made_by = ledger.made_by();
  const auto counts = ledger.counts();
  if (made_by.empty() || (ledger.left_out().empty() && !counts.contains(JobState::skipped)))
    return "";
  return cat("after a repair of the data, this takes up what was left out or skipped:\n  ",
             printable(made_by), "\n");
}

}  // namespace

std::string batch_summary(const BatchFolder& batch, Ledger& ledger) {
  Database& database = ledger.database();
  std::string text = cat(counts_text(ledger.counts()), unsynced_text(ledger), "\n");
  Statement times(
      database,
      "SELECT count(*), sum(ended - started) FROM attempt WHERE outcome IS NOT NULL AND "
      "started > 0 AND ended >= started");
  if (times.step() && times.integer(0) > 0) {
    const RunningTime running = running_time(ledger);
    const double seconds = running.seconds(), busy = times.number(1);
    const std::string gaps = gaps_text(running.gaps());
    const auto attempts = times.integer(0);
    text += cat(
        gaps.empty() ? "from first start to last end " : "running for ", fixed(seconds, 1), " s",
        gaps.empty() ? ""
                     : cat(" (", gaps, "; from first start to last end ",
                           fixed(running.end() - running.begin(), 1), " s)"),
        "; ", plural(attempts, "attempt", "attempts"), ", ",
        fixed(busy / static_cast<double>(attempts), 3), " s each with start-up, on average");
    if (seconds > 0)
      text += cat(", ", fixed(static_cast<double>(attempts) / seconds * 60, 1), " per minute, ",
                  fixed(busy / seconds, 2), " at once on average", crowded_text(ledger));
    text += "\n";
  }
  Statement devices(database,
                    "SELECT devices, count(*), sum(ended - started) FROM attempt WHERE outcome IS "
                    "NOT NULL AND devices != '[]' GROUP BY devices ORDER BY devices");
  while (devices.step())
    text += cat("  ", printable(devices.text(0)), ": ",
                plural(devices.integer(1), "attempt", "attempts"), ", ",
                fixed(devices.number(2), 1), " s\n");
  text += placements_text(database) + notes_text(database);
  Statement slowest(
      database,
      "SELECT job.name, ended - started AS took FROM attempt JOIN job ON job.id = job "
      "WHERE outcome = 'done' AND listed = 1 ORDER BY took DESC LIMIT ?");
  slowest.bind(1, most_slowest);
  std::string list;
  while (slowest.step())
    list += cat(list.empty() ? "" : ", ", printable(slowest.text(0)), " ",
                fixed(slowest.number(1), 2), " s");
  if (!list.empty()) text += cat("slowest: ", list, "\n");
  Statement failures(
      database,
      "SELECT job.id, job.reason, (SELECT max(number) FROM attempt WHERE attempt.job = job.id) "
      "FROM job WHERE listed = 1 AND (state = 'failed' OR (state = 'waiting' AND reason != '')) "
      "ORDER BY id");
  std::int64_t shown = 0, more = 0;
  while (failures.step()) {
    if (++shown > most_failures) {
      ++more;
      continue;
    }
    const Job job = ledger.job(failures.integer(0));
    text += cat("failed: ", shown_name(job), ": ", printable(failures.text(1)));
    const std::filesystem::path log = batch.log(job.name, static_cast<int>(failures.integer(2)));
    std::error_code ignored;
    if (std::filesystem::exists(log, ignored)) text += cat("\n  ", printable(log.string()));
    text += "\n";
  }
  if (more > 0)
    text += cat("and ", more, " more: lockstep batch status ", shell_word(batch.path.string()),
                " --failed\n");
  return text + left_out_text(ledger.left_out()) + take_up_text(ledger);
}

}  // namespace lockstep
