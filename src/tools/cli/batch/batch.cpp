// Implements the subcommands of `lockstep batch` that inspect a batch or send a request to its
// scheduler.
#include "tools/cli/batch/batch.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/launch/launch.h"
#include "tools/cli/batch/batch_slurm.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/output.h"
#include "tools/cli/run_root.h"
#include "tools/jobs/analysis/analysis.h"
#include "tools/jobs/analysis/batch_text.h"
#include "tools/jobs/files/batch_files.h"
#include "tools/jobs/files/batch_identity.h"
#include "tools/jobs/files/batch_shares.h"
#include "tools/jobs/files/jobs_csv.h"
#include "tools/jobs/job_names.h"
#include "tools/jobs/process/process_tree.h"
#include "tools/jobs/process/supervisor.h"
#include "tools/jobs/schedule/settle.h"
#include "tools/jobs/slurm/slurm_queue.h"

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

// Finds a job by its name, number or value. Names can be similar, for example if values differ only
// in a space. In that case, only an exact match is accepted.
std::int64_t job_of(Ledger& ledger, const std::string& words) {
  if (const auto id = ledger.find(words)) return *id;
  const auto is_value = [&](const Job& job) {
    return parameter_list(job) == words ||
           (job.parameters.size() == 1 && job.parameters.front().second == words);
  };
  std::vector<std::string> names, alike;
  std::vector<std::int64_t> found;
  Statement rows(ledger.database(), "SELECT id FROM job WHERE listed != 0 LIMIT 10000");
  while (rows.step()) {
    const Job job = ledger.job(rows.integer(0));
    names.push_back(job.name);
    if (is_value(job)) found.push_back(job.number);
    if (job.name.starts_with(plain_job_name(words)))
      alike.push_back(cat(job.number, ", ", shown_name(job)));
  }
  if (found.size() == 1) return found.front();
  constexpr std::size_t most_alike = 5;
  const std::string near = nearest(words, names);
  std::string hint = "lockstep batch status BATCH --jobs lists them";
  if (!alike.empty() && alike.size() <= most_alike)
    hint = cat("alike are ", join(alike, "; "), "; each has its number");
  else if (alike.empty() && !near.empty())
    hint = cat("did you mean ", near, "?");
  for (const std::string& line : ledger.left_out())
    if (line.starts_with(words + ": ") && !ledger.made_by().empty())
      throw Error(
          cat("the batch has no job of ", printable(words),
              ", which was left out: ", printable(line.substr(words.size() + 2))),
          cat("once its data are repaired, take it up with: ", printable(ledger.made_by())));
  throw Error(cat("the batch has no job ", printable(words)), hint);
}

using Rows = std::vector<nlohmann::json>;

// Calls `visit` with blocks of jobs that meet `condition`, in the order of their numbers. Blocks
// keep memory small for a million jobs. The ledger is not open for reading during a call. So a slow
// reader of the output does not block writers.
void each_job_rows(Ledger& ledger, const std::string& condition,
                   const std::function<void(const Rows&)>& visit) {
  constexpr std::size_t at_once = 1000;
  Statement jobs(
      ledger.database(),
      cat("SELECT job.id, name, state, job.reason, tries, last.exit_code, "
          "last.ended - last.started, last.devices, last.number FROM job LEFT JOIN "
          "attempt AS last ON last.id = (SELECT max(id) FROM attempt WHERE attempt.job = "
          "job.id) WHERE ",
          condition, " AND job.id > ? ORDER BY job.id LIMIT ", at_once));
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (Rows rows;; rows.clear()) {
    jobs.bind(1, last);
    while (jobs.step()) {
      last = jobs.integer(0);
      nlohmann::json& row = rows.emplace_back(nlohmann::json{{"job", last},
                                                             {"name", jobs.text(1)},
                                                             {"state", jobs.text(2)},
                                                             {"reason", jobs.text(3)},
                                                             {"tries", jobs.integer(4)}});
      if (!jobs.is_null(5)) row["exit_code"] = jobs.integer(5);
      if (!jobs.is_null(6)) row["seconds"] = jobs.number(6);
      if (nlohmann::json devices = parse_json(jobs.text(7)); devices.is_array())
        row["devices"] = std::move(devices);
      if (!jobs.is_null(8)) row["attempt"] = jobs.integer(8);
    }
    jobs.reset();
    if (!rows.empty()) visit(rows);
    if (rows.size() < at_once) return;
  }
}

std::vector<std::int64_t> job_numbers(Ledger& ledger, const std::string& condition) {
  std::vector<std::int64_t> numbers;
  Statement jobs(ledger.database(),
                 cat("SELECT id FROM job WHERE listed != 0", condition, " ORDER BY id"));
  while (jobs.step()) numbers.push_back(jobs.integer(0));
  return numbers;
}

// False if the last job file no longer has the job.
bool is_listed(Ledger& ledger, std::int64_t id) {
  return !job_numbers(ledger, cat(" AND id = ", id)).empty();
}

// All facts about one job.
nlohmann::json job_page(Ledger& ledger, std::int64_t id) {
  nlohmann::json page;
  each_job_rows(ledger, cat("job.id = ", id), [&](const Rows& rows) { page = rows[0]; });
  page["parameters"] = nlohmann::json::object();
  for (const auto& [name, value] : ledger.job(id).parameters) page["parameters"][name] = value;
  if (!is_listed(ledger, id)) page["listed"] = false;
  Statement last(ledger.database(),
                 "SELECT id, results_left_out FROM attempt WHERE job = ? ORDER BY id DESC LIMIT 1");
  if (!last.bind(1, id).step()) return page;
  page["results"] = nlohmann::json::object();
  for (const JobResult& result : ledger.results(last.integer(0)))
    std::visit([&](const auto& value) { page["results"][result.name] = value; }, result.value);
  if (!last.is_null(1)) page["results_left_out"] = last.text(1);
  return page;
}

std::string job_table(Ledger& ledger, const Rows& rows) {
  std::string text;
  for (const auto& row : rows) {
    const auto id = row["job"].get<std::int64_t>();
    std::string name = row["name"].get<std::string>();
    // several names may look the same
    if (name.find('_') != name.npos) name = shown_name(ledger.job(id));
    text += cat(id, "  ", printable(row["state"].get<std::string>()), "  ", printable(name));
    if (row.contains("seconds")) text += cat("  ", fixed(row["seconds"].get<double>(), 2), " s");
    if (const auto reason = row["reason"].get<std::string>(); !reason.empty())
      text += "  " + printable(reason);
    text += "\n";
  }
  return text;
}

void print_job_table(Ledger& ledger, const std::string& condition) {
  bool any = false;
  each_job_rows(ledger, condition, [&](const Rows& rows) {
    print(job_table(ledger, rows));
    any = true;
  });
  if (!any) print("");
}

// Prints `value` with the jobs in its key "jobs". The text equals json_text of the whole, but jobs
// are read in blocks.
void print_with_jobs(nlohmann::json value, Ledger& ledger, const std::string& condition) {
  value["jobs"] = nlohmann::json::array();
  const std::string text = json_text(value);
  const std::string_view empty = "\n  \"jobs\": []";
  const std::size_t at = text.find(empty);  // values in JSON text contain no line breaks
  std::string part = text.substr(0, at + empty.size() - 1);
  bool any = false;
  each_job_rows(ledger, condition, [&](const Rows& rows) {
    for (const nlohmann::json& row : rows) {
      part += std::exchange(any, true) ? "," : "";
      for (const std::string& line : split(json_text(row), '\n')) part += "\n    " + line;
    }
    // the last line is kept, because a comma may follow
    const std::size_t end = part.rfind('\n') + 1;
    print(part.substr(0, end));
    part.erase(0, end);
  });
  print(cat(part, any ? "\n  " : "", text.substr(at + empty.size() - 1)));
}

std::string condition_of(const Parsed& parsed) {
  if (parsed.has("--failed"))
    return "listed != 0 AND (state = 'failed' OR (state = 'waiting' AND job.reason != ''))";
  if (parsed.has("--running")) return "listed != 0 AND state = 'running'";
  return "listed != 0";
}

int status_main(const Parsed& parsed) {
  if (parsed.has("--failed") && parsed.has("--running"))
    throw Error("--failed and --running list other jobs", "leave one of them out");
  const BatchFolder batch = open_batch(parsed);
  Ledger ledger = ledger_to_read(batch);
  const auto holder = batch_holder(batch);
  if (parsed.positionals.size() > 1) {
    for (const char* flag : {"--jobs", "--failed", "--running"})
      if (parsed.has(flag))
        throw Error(cat(flag, " lists jobs of a batch, but one job is named"),
                    "leave one of them out");
    const std::int64_t id = job_of(ledger, parsed.positionals[1]);
    print(json_text(job_page(ledger, id)));
    return exit_finished;
  }
  const bool lists = parsed.has("--jobs") || parsed.has("--failed") || parsed.has("--running");
  if (parsed.has("--json")) {
    nlohmann::json value{{"batch", batch.path.string()}, {"running", holder.has_value()}};
    for (const auto& [state, count] : ledger.counts()) value["counts"][to_string(state)] = count;
    if (const std::string by = ledger.fact("clean-up"); !by.empty()) value["clean_up"] = by;
    value["not_on_disk_yet"] = ledger.unsynced();
    if (const auto lines = ledger.left_out(); !lines.empty()) value["left_out"] = lines;
    if (nlohmann::json search = parse_json(ledger.fact("search")); search.is_object())
      value["search"] = std::move(search);
    if (lists)
      print_with_jobs(std::move(value), ledger, condition_of(parsed));
    else
      print(json_text(value));
    return exit_finished;
  }
  if (lists) {
    print_job_table(ledger, condition_of(parsed));
    return exit_finished;
  }
  if (has_shares(batch)) {
    print(cat("batch ", batch.path.string(), " under Slurm, ", shares_text(batch),
              ledger.is_paused() ? ", paused" : "", "\n", batch_summary(batch, ledger),
              cautions_of(batch, ledger)));
    return exit_finished;
  }
  print(cat("batch ", batch.path.string(), " ",
            holder ? cat("runs (process ", holder->pid, " on ", holder->host, ")")
                   : std::string("does not run"),
            ledger.is_paused() ? ", paused" : "", "\n", batch_summary(batch, ledger),
            cautions_of(batch, ledger)));
  return exit_finished;
}

int logs_main(const Parsed& parsed) {
  const BatchFolder batch = open_batch(parsed);
  Ledger ledger = ledger_to_read(batch);
  const std::int64_t id = job_of(ledger, parsed.positionals[1]);
  const Job job = ledger.job(id);
  Statement last(ledger.database(), "SELECT max(number) FROM attempt WHERE job = ?");
  last.bind(1, id).step();
  if (last.is_null(0)) throw Error(cat("job ", job.name, " has not run yet"));
  const std::int64_t number_of_newest = last.integer(0);
  if (number_of_newest < 1 || number_of_newest > std::numeric_limits<int>::max())
    throw Error(
        cat("the ledger of ", batch.path.string(), " is damaged: the newest attempt of job ",
            job.name, " has the number ", number_of_newest),
        cat("the logs are in ", (batch.path / "logs").string()));
  const int newest = static_cast<int>(number_of_newest);
  const auto asked = whole_number<int>(parsed.value("--attempt", cat(newest)), 1, newest);
  if (!asked)
    throw Error(cat("--attempt must be a number from 1 to ", newest, ", but is ",
                    printable(parsed.value("--attempt"))));
  const int number = *asked;
  const std::optional<UniqueFd> log = open_log(batch, job.name, number);
  if (!log) {
    say(cat("attempt ", number, " of job ", shown_name(job), " printed nothing"));
    return exit_finished;
  }
  if (const std::string shown = shown_name(job); shown != job.name)
    say(cat("attempt ", number, " of job ", shown, ":"));
  print_log(*log);
  return exit_finished;
}

// Ends running jobs that outlived their scheduler, and returns their number. The next scheduler
// ends processes that ignore the signal.
std::size_t cancel_running(Ledger& ledger, const BatchFolder& batch, std::int64_t job) {
  std::size_t count = 0;
  const std::string id = batch_id(ledger, batch);
  for (Attempt& attempt : ledger.unfinished()) {
    if (job != 0 && attempt.job != job) continue;
    attempt.asked = ended_by_cancel;
    if (attempt.signalled == 0) attempt.signalled = system_clock().wall_s();
    ledger.ask_end(attempt);
    ++count;
    if (id.empty()) continue;
    for (const MarkedProcess& process : processes_marked(attempt_mark(id, attempt.id)))
      signal_marked(process, SIGTERM);
  }
  return count;
}

constexpr const char* without_success = " AND state IN ('failed', 'cancelled', 'skipped')";

// Makes a request to one ledger. A running scheduler executes it soon, and the result is 0. If none
// runs, the change is made here, and the result is the number of jobs it affects.
std::size_t ask(const BatchFolder& part, const std::string& what, std::int64_t job) {
  Ledger ledger = Ledger::open(part.ledger());
  const bool runs = batch_holder(part).has_value();
  if (runs) {
    if (what == "retry" && job == 0) {
      Transaction transaction(ledger.database());
      for (const std::int64_t id : job_numbers(ledger, without_success))
        ledger.request("retry", id, "");
      transaction.commit();
    } else {
      ledger.request(what, job, "");
    }
    return 0;
  }
  if (what == "pause" || what == "unpause") {
    ledger.set_paused(what == "pause");
    return 0;
  }
  std::size_t ended = 0;
  if (what == "cancel") ended = cancel_running(ledger, part, job);
  const std::string asked = job != 0 ? cat(" AND job.id = ", job) : "";
  const std::string states = what == "retry"
                                 ? (job != 0 ? " AND state != 'running'" : without_success)
                                 : " AND state = 'waiting'";
  const std::vector<std::int64_t> jobs = job_numbers(ledger, asked + states);
  Transaction transaction(ledger.database());
  for (const std::int64_t id : jobs) {
    if (what == "retry")
      ledger.forget_tries(id);
    else
      ledger.set_state(id, JobState::cancelled, "cancelled by request");
  }
  transaction.commit();
  if (ended > 0)
    say(cat(ended, ended == 1 ? " job that still runs is" : " jobs that still run are", " ended"));
  return jobs.size();
}

bool is_running(const BatchFolder& part, std::int64_t job) {
  Ledger ledger = Ledger::open_to_read(part.ledger());
  return !job_numbers(ledger, cat(" AND state = 'running' AND id = ", job)).empty();
}

// Answers a request to retry a job that has not ended. Only a scheduler can tell that the job still
// runs.
int retry_running(const BatchFolder& batch, const BatchFolder& part, const std::string& word) {
  const std::string name = batch_word(batch);
  if (batch_holder(part))
    throw Error(cat("job ", printable(word), " is running: it cannot be retried"),
                cat("lockstep batch cancel ", name, " ", shell_word(printable(word)), " ends it"));
  say(cat("job ", printable(word), " was running when the batch stopped: lockstep batch resume ",
          name, " waits for it, or runs it again if it is gone"));
  return exit_finished;
}

// Requests a change from the running scheduler. If none runs, makes the change in the ledger.
int request_main(const Parsed& parsed, const std::string& what) {
  const BatchFolder batch = open_batch(parsed);
  std::int64_t job = 0;
  if (parsed.positionals.size() > 1) {
    Ledger ledger = ledger_to_read(batch);
    job = job_of(ledger, parsed.positionals[1]);
    if (what == "retry" && !is_listed(ledger, job))
      throw Error(cat("job ", shown_name(ledger.job(job)),
                      " is not in the job file any more, as it ran last"),
                  cat("lockstep batch status ", batch_word(batch),
                      " --jobs lists the jobs; lockstep batch run FILE takes it up again once it "
                      "is in the file"));
  }
  if (what == "cancel" && job == 0 && has_shares(batch)) cancel_pending(batch);
  std::size_t changed = 0;
  bool all_run = true;
  for (const BatchFolder& part : parts_of(batch)) {
    if (job != 0 && has_shares(batch) && !Ledger::open_to_read(part.ledger()).find(cat(job)))
      continue;
    if (what == "retry" && job != 0 && is_running(part, job))
      return retry_running(batch, part, parsed.positionals[1]);
    all_run = batch_holder(part) && all_run;
    changed += ask(part, what, job);
  }
  const std::string name = batch_word(batch);
  const std::string on = "lockstep batch resume " + name;
  if (what == "pause")
    say("paused: no more jobs start until lockstep batch unpause " + name);
  else if (what == "unpause")
    say(all_run ? "jobs start again" : "jobs start again with " + on);
  else if (!all_run || changed > 0)
    say(cat(changed, changed == 1 ? " job" : " jobs",
            what == "retry" ? " will run with " + on : " cancelled"));
  else if (job != 0 && what == "retry")
    say("the batch that runs was asked to run the job again");
  return exit_finished;
}

int slots_main(const Parsed& parsed) {
  const BatchFolder batch = open_batch(parsed);
  const std::string& asked = parsed.positionals[1];
  if (!whole_number<int>(asked, 1, most_slots))
    throw Error(cat("slots must be a number from 1 to ", most_slots, ", but is ", asked));
  if (!batch_holder(batch))
    throw Error(cat("batch ", batch.path.string(), " does not run"),
                cat("lockstep batch resume ", batch_word(batch), " --slots ", asked));
  for (const BatchFolder& part : parts_of(batch))
    if (batch_holder(part)) Ledger::open(part.ledger()).request("slots", 0, asked);
  return exit_finished;
}

// Whether any part of the batch will still run without another command.
bool goes_on(const BatchFolder& batch) {
  if (batch_holder(batch)) return true;
  if (!has_shares(batch)) return false;
  const auto tasks = slurm_tasks(batch);
  return tasks && !tasks->empty();
}

int wait_main(const Parsed& parsed) {
  const BatchFolder batch = open_batch(parsed);
  // Slurm is asked rarely, as often as a person would ask.
  while (goes_on(batch)) system_clock().sleep_s(has_shares(batch) ? 5 : 0.5);
  Ledger ledger = ledger_to_read(batch);
  const auto counts = ledger.counts();
  print(counts_text(counts));
  if (counts.contains(JobState::failed)) return exit_failed;
  return counts.contains(JobState::waiting) ? exit_stopped : exit_finished;
}

void analyze_one(const Parsed& parsed, const BatchFolder& batch, const BatchAnalysis& analysis) {
  print(analysis_text(analysis) + timeline_text(analysis, text_width()));
  if (analysis.spans.empty()) return;
  const fs::path chart = parsed.value("--chart", (batch.path / "timeline.svg").string());
  write_file_atomic(chart, analysis_svg(analysis, "batch " + batch.path.filename().string()));
  say(cat("timeline: ", chart.string()));
}

int analyze_main(const Parsed& parsed) {
  std::vector<BatchFolder> batches;
  for (const std::string& name : parsed.positionals) batches.push_back(open_batch(parsed, name));
  if (parsed.has("--chart") && batches.size() > 1)
    throw Error("--chart names one file, but there are several batches",
                "leave it out: each timeline goes into the folder of its batch");
  for (const auto& [flag, other] : {std::pair("--csv", "--json"), std::pair("--csv", "--chart"),
                                    std::pair("--json", "--chart")})
    if (parsed.has(flag) && parsed.has(other))
      throw Error(cat(flag, " is instead of what ", other, " writes"), "leave one of them out");
  if (parsed.has("--csv")) {
    Output output(parsed.value("--csv"), may_overwrite(parsed));
    Written written = Written::yes;
    write_jobs_csv(batches, [&](const std::string& lines) {
      written = output.write(lines);
      return written == Written::yes;
    });
    return written == Written::failed ? exit_failed : exit_finished;
  }
  std::vector<std::pair<std::string, BatchAnalysis>> analyses;
  for (const BatchFolder& batch : batches)
    analyses.emplace_back(batch.path.filename().string(), analyze(batch));
  if (parsed.has("--json")) {
    nlohmann::json all = nlohmann::json::array();
    for (const auto& [name, analysis] : analyses) {
      all.push_back(analysis_json(analysis));
      all.back()["batch"] = name;
    }
    print(json_text(all.size() == 1 ? all[0] : all));
    return exit_finished;
  }
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (batches.size() > 1) print(cat(i > 0 ? "\n" : "", printable(analyses[i].first), ":\n"));
    analyze_one(parsed, batches[i], analyses[i].second);
  }
  if (batches.size() > 1) print("\n" + comparison_text(analyses));
  return exit_finished;
}

int supervise_main(const Parsed& parsed) {
  const auto socket = whole_number<int>(parsed.positionals[0], 3, 1 << 20);
  const auto record = whole_number<int>(parsed.positionals[1], 3, 1 << 20);
  if (!socket || !record) throw Error("lockstep batch supervise is started by lockstep batch run");
  supervise(*socket, UniqueFd(*record));
  return exit_finished;
}

Command on_batch(const std::string& name, const std::string& operands, const std::string& summary,
                 std::size_t most, std::function<int(const Parsed&)> run) {
  return {.name = "batch " + name,
          .operands = operands,
          .summary = summary,
          .min_positionals = 1,
          .max_positionals = most,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .complete = "batch",
          .run = std::move(run),
          .operands_have_equals = true};
}

bool is_batch(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path / "ledger.sqlite", ignored) || has_shares({path});
}

// If Slurm runs the batch, its jobs are submitted to Slurm again.
Command resume_anywhere() {
  Command command = batch_resume_command();
  command.run = [run = command.run](const Parsed& parsed) {
    const BatchFolder batch = open_batch(parsed);
    return has_shares(batch) ? resume_under_slurm(parsed, batch) : run(parsed);
  };
  return command;
}

Command add_where_possible() {
  Command command = batch_add_command();
  command.run = [run = command.run](const Parsed& parsed) {
    refuse_slurm(open_batch(parsed), "lockstep batch add");
    return run(parsed);
  };
  return command;
}

Command asking(const std::string& what, const std::string& operands, const std::string& summary,
               std::size_t most) {
  Command command = on_batch(what, operands, summary, most,
                             [what](const Parsed& parsed) { return request_main(parsed, what); });
  if (most > 1) command.complete = "batch job";
  return command;
}

}  // namespace

std::vector<fs::path> batches_in(const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root, ignored))
    if (is_batch(entry.path())) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

BatchFolder open_batch(const Parsed& parsed) { return open_batch(parsed, parsed.positionals[0]); }

BatchFolder open_batch(const Parsed& parsed, const std::string& name) {
  const fs::path root = run_root(parsed);
  for (const fs::path& path : {root / name, fs::path(name)})
    if (is_batch(path)) return {fs::absolute(path).lexically_normal()};
  std::vector<std::string> names;
  for (const fs::path& path : batches_in(root)) names.push_back(path.filename().string());
  const std::string near = nearest(name, names);
  throw Error(cat("there is no batch ", name, " in ", root.string()),
              near.empty() ? "lockstep batch run makes one" : cat("did you mean ", near, "?"));
}

std::string batch_word(const BatchFolder& batch) {
  return shell_word(fs::proximate(batch.path).string());
}

std::optional<LockHolder> batch_holder(const BatchFolder& batch) { return holder_of(batch); }

std::vector<TriedFlag> tried_slots() {
  const std::string hint =
      "write --slots {value}: jobs at once at most; without it, cores and GPUs decide";
  return {{"-j", hint}, {"--jobs", hint}, {"-P", hint}, {"--parallel", hint}};
}

Command batch_analyze_command() {
  constexpr std::size_t most_batches = 100;
  Command command =
      on_batch("analyze", "BATCH [BATCH …]", "which device ran what when, and why one was idle",
               most_batches, analyze_main);
  command.flags = {
      {"--json", "", "as JSON"},
      {"--csv", "FILE",
       "a row per job instead: parameters, state, times, devices and what it reported; - is "
       "standard output",
       "file"},
      overwrite_flag(),
      {"--chart", "FILE", "file for the timeline (default BATCH/timeline.svg)", "file"}};
  return command;
}

std::vector<Command> batch_commands() {
  Command status =
      on_batch("status", "BATCH [JOB]", "how far a batch is, or one of its jobs", 2, status_main);
  status.complete = "batch job";
  status.flags = {{"--jobs", "", "a row per job"},
                  {"--failed", "", "jobs that failed, or wait for a failed one"},
                  {"--running", "", "jobs that run"},
                  {"--json", "", "as JSON"}};
  Command logs = on_batch("logs", "BATCH JOB", "what a job printed", 2, logs_main);
  logs.complete = "batch job";
  logs.min_positionals = 2;
  logs.flags = {{"--attempt", "N", "log of attempt N (default: the last)"}};
  Command retry = asking("retry", "BATCH [JOB]", "run failed and skipped jobs again, or one", 2);
  for (const char* name : {"--failed", "--skipped", "--all"})
    retry.tried_flags.push_back(
        {name, "lockstep batch retry BATCH runs all jobs that failed, were cancelled or skipped"});
  Command slots =
      on_batch("slots", "BATCH N", "from now on run N jobs at once at most", 2, slots_main);
  slots.min_positionals = 2;
  Command supervise_command{.name = "batch supervise",
                            .operands = "SOCKET RECORD",
                            .min_positionals = 2,
                            .max_positionals = 2,
                            .run = supervise_main,
                            .hidden = true};
  std::vector<Command> commands{
      batch_run_command(),
      resume_anywhere(),
      add_where_possible(),
      batch_slurm_command(),
      batch_slurm_task_command(),
      batch_analyze_command(),
      status,
      logs,
      asking("cancel", "BATCH [JOB]", "end a job, or all, for good", 2),
      retry,
      asking("pause", "BATCH", "start no more jobs; those that run may end", 1),
      asking("unpause", "BATCH", "start jobs again", 1),
      slots,
      on_batch("wait", "BATCH", "wait until a batch does not run any more", 1, wait_main),
      supervise_command};
  const std::vector<Command> of_recipes = batch_recipe_commands();
  commands.insert(commands.begin() + 1, of_recipes.begin(), of_recipes.end());
  return commands;
}

}  // namespace lockstep::cli
