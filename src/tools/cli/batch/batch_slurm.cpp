#include "tools/cli/batch/batch_slurm.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/json/json_number.h"
#include "core/base/process/host_name.h"
#include "core/base/process/program.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "core/base/whole_number.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/context.h"
#include "tools/cli/output.h"
#include "tools/cli/run_root.h"
#include "tools/jobs/analysis/batch_text.h"
#include "tools/jobs/files/batch_shares.h"
#include "tools/jobs/job_file/check_jobs.h"
#include "tools/jobs/job_file/job_file.h"
#include "tools/jobs/slurm/slurm_queue.h"
#include "tools/jobs/slurm/slurm_script.h"

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t usual_jobs_of_a_task = 100;
constexpr int most_asked = 1'000'000;  // of cores, GPUs, jobs, tasks
// tasks of one array; Slurm's MaxArraySize is 1001 by default
constexpr std::size_t most_tasks = 1000;

// Flags that a task passes to its own `lockstep batch resume`.
const std::vector<Flag> task_flags{
    {"--slots", "N", "jobs at once at most in a task (default: as many as its cores allow)"},
    {"--share", "", "also use GPUs on which other programs run"},
    {"--grace", "TIME", "time from SIGTERM to SIGKILL when a job is terminated (default 10s)"},
    {"--log-limit-mb", "N", "as of lockstep batch run"}};

std::int64_t slurm_flag(const Parsed& parsed, const std::string& flag, std::int64_t otherwise,
                        std::int64_t least = 1) {
  if (!parsed.has(flag)) return otherwise;
  const auto count = whole_number<std::int64_t>(parsed.value(flag), least, most_asked);
  if (!count)
    throw Error(cat(flag, " must be a number from ", least, " to ", most_asked, ", but is ",
                    parsed.value(flag)));
  return *count;
}

std::vector<std::string> task_words(const Parsed& parsed) {
  std::vector<std::string> words;
  for (const Flag& flag : task_flags) {
    if (!parsed.has(flag.name)) continue;
    words.push_back(flag.name);
    if (!flag.value.empty()) words.push_back(parsed.value(flag.name));
  }
  return words;
}

// The number of seconds before the time limit at which Slurm sends its signal. It covers the grace
// period of jobs, and time to write the ledger.
int notice_s(const Parsed& parsed) {
  constexpr double beside_grace_s = 50;
  return static_cast<int>(duration_of(parsed, "--grace", 10, 0) + beside_grace_s);
}

SlurmOptions asked_of_slurm(const Parsed& parsed, const JobList& list) {
  SlurmOptions options;
  options.partition = parsed.value("--partition");
  if (parsed.has("--time")) options.time = slurm_time(parsed.value("--time"));
  options.gpus = static_cast<int>(slurm_flag(parsed, "--gpus-per-task", most_gpus(list), 0));
  options.cpus =
      static_cast<int>(slurm_flag(parsed, "--cpus-per-task", cores_for_task(list, options.gpus)));
  options.at_once = slurm_flag(parsed, "--at-once", 0);
  options.more = parsed.all("--sbatch");
  for (const std::string& more : options.more) check_sbatch_text(more);
  options.notice_s = notice_s(parsed);
  options.task_words = task_words(parsed);
  check_task_holds_jobs(list, options);
  return options;
}

nlohmann::json slurm_json(const SlurmOptions& options) {
  return {{"partition", options.partition}, {"time", options.time},
          {"cpus", options.cpus},           {"gpus", options.gpus},
          {"at_once", options.at_once},     {"sbatch", options.more},
          {"notice_s", options.notice_s},   {"task_words", options.task_words}};
}

SlurmOptions recorded_options(const BatchFolder& batch) {
  const nlohmann::json record = parse_json(read_file(batch.record()));
  constexpr const char* anew = "hand the batch in again with lockstep batch slurm FILE";
  SlurmOptions options;
  try {
    const nlohmann::json& slurm = record.at("slurm");
    slurm.at("partition").get_to(options.partition);
    slurm.at("time").get_to(options.time);
    options.cpus = whole_member<int>(slurm, "cpus", 1, most_asked);
    options.gpus = whole_member<int>(slurm, "gpus", 0, most_asked);
    options.at_once = whole_member<std::int64_t>(slurm, "at_once", 0, most_asked);
    slurm.at("sbatch").get_to(options.more);
    options.notice_s = whole_member<int>(slurm, "notice_s");
    slurm.at("task_words").get_to(options.task_words);
  } catch (const nlohmann::json::exception&) {
    throw Error(cat(batch.record().string(), " does not say what was asked of Slurm"), anew);
  } catch (const Error& error) {
    throw Error(cat(batch.record().string(), ": slurm.", error.what()), anew);
  }
  return options;
}

// The tasks of one array, and the shares that must end before.
struct Array {
  int level = 0;
  std::vector<std::int64_t> shares;
  std::int64_t jobs = 0;
  std::set<std::int64_t> after;  // shares that must end before
};

std::vector<Array> arrays_of(const std::map<std::int64_t, ShareWork>& work,
                             const std::set<std::int64_t>& active) {
  std::map<int, std::vector<std::int64_t>> by_level;
  for (const auto& [share, one] : work)
    if (!active.contains(share)) by_level[one.level].push_back(share);
  std::vector<Array> arrays;
  for (const auto& [level, shares] : by_level)
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (i % most_tasks == 0) arrays.push_back({.level = level, .shares = {}, .after = {}});
      const ShareWork& one = work.at(shares[i]);
      arrays.back().shares.push_back(shares[i]);
      arrays.back().jobs += one.left;
      arrays.back().after.insert(one.after.begin(), one.after.end());
    }
  return arrays;
}

std::string program_of_tool() { return (program_folder() / "lockstep").string(); }

std::string array_text(const Array& array, const SlurmOptions& options) {
  std::string text = cat(array.jobs, array.jobs == 1 ? " job in " : " jobs in ",
                         array.shares.size(), array.shares.size() == 1 ? " task" : " tasks");
  if (options.at_once > 0) text += cat(", ", options.at_once, " at once");
  return text;
}

// The arrays that must have ended before this one.
std::vector<std::string> needed_arrays(const Array& array,
                                       const std::map<std::int64_t, std::string>& array_of) {
  std::set<std::string> ids;
  for (const std::int64_t share : array.after)
    if (const auto found = array_of.find(share); found != array_of.end()) ids.insert(found->second);
  return {ids.begin(), ids.end()};
}

int say_all_over(const BatchFolder& batch, Ledger& all) {
  print(cat("nothing is left to run\n", gathered(batch, all), batch_summary(batch, all)));
  return all.counts().contains(JobState::failed) ? exit_failed : exit_finished;
}

// Submits the shares that have jobs left and are neither running nor queued.
int submit_left(const BatchFolder& batch, Ledger& all, const SlurmOptions& options) {
  const std::map<std::int64_t, ShareWork> work = work_left(all);
  if (work.empty()) return say_all_over(batch, all);
  std::set<std::int64_t> active = running_shares(batch);
  std::map<std::int64_t, std::string> array_of;
  if (const auto tasks = slurm_tasks(batch))
    for (const auto& [share, task] : *tasks) {
      active.insert(share);
      array_of[share] = task.job;
    }
  std::int64_t there = 0;
  for (const auto& [share, one] : work) there += active.contains(share) ? one.left : 0;
  if (there > 0) say(cat(there, there == 1 ? " job is" : " jobs are", " with Slurm already"));
  std::string before;
  for (const Array& array : arrays_of(work, active)) {
    std::vector<std::string> after = needed_arrays(array, array_of);
    // Arrays wait for each other. If they ran together, more tasks than requested would run at
    // once.
    if (options.at_once > 0 && !before.empty() && after.empty()) after.push_back(before);
    before = submit_to_slurm(batch, slurm_script(batch, program_of_tool(), options, array.shares),
                             array.shares, after);
    for (const std::int64_t share : array.shares) array_of[share] = before;
    print(cat("Slurm job ", before, ": ", array_text(array, options),
              after.empty() ? "" : ", after job " + join(after, ", ")));
  }
  return exit_finished;
}

void show_scripts(const BatchFolder& batch, Ledger& all, const SlurmOptions& options) {
  const std::vector<Array> arrays = arrays_of(work_left(all), {});
  for (const Array& array : arrays) {
    if (array.level > 0) print("\n# Once the tasks that it waits for have ended:");
    print_data(slurm_script(batch, program_of_tool(), options, array.shares));
    say(array_text(array, options));
  }
  if (arrays.empty()) say("nothing is left to run");
}

BatchFolder folder_of_batch(const Parsed& parsed, const fs::path& file) {
  const std::string name = parsed.has("--name") ? parsed.value("--name") : file.stem().string();
  BatchFolder batch{fs::absolute(fs::path(run_root(parsed)) / name).lexically_normal()};
  std::error_code ignored;
  if (fs::exists(batch.ledger(), ignored))
    throw Error(cat("the batch ", batch.path.string(), " is one of lockstep batch run"),
                "choose another name with --name");
  if (fs::exists(batch.path, ignored) && !has_shares(batch) && !fs::exists(batch.record(), ignored))
    throw Error(cat(batch.path.string(), " is there already, and is no batch"),
                "choose another name with --name");
  sbatch_word(batch.path.string());  // called before any file is made
  return batch;
}

void write_record(const BatchFolder& batch, const fs::path& file, const SlurmOptions& options) {
  std::error_code ignored;
  nlohmann::json record = nlohmann::json::object();
  if (fs::exists(batch.record(), ignored)) record = parse_json(read_file(batch.record()));
  if (!record.is_object()) record = nlohmann::json::object();
  record["kind"] = "batch";
  record["source"] = file.string();
  record["lockstep"] = version();
  if (!record.contains("created")) record["created"] = system_clock().wall_s();
  record["slurm"] = slurm_json(options);
  write_file_atomic(batch.record(), json_text(record) + "\n");
}

std::string added_text(const BatchFolder& batch, const AddedJobs& added) {
  const std::int64_t jobs = added.added + added.known;
  std::string text = cat("batch ", batch.path.string(), ": ", jobs, jobs == 1 ? " job" : " jobs");
  if (added.known > 0) text += cat(" (", added.added, " new)");
  if (added.left_out > 0) text += cat(", ", added.left_out, " no longer listed");
  return text;
}

Ledger ledger_for_plan(const BatchFolder& batch) {
  if (has_shares(batch)) return ledger_to_read(batch);
  const TemporaryDirectory empty;
  fs::create_directory(empty.path() / "shares");
  return ledger_to_read({empty.path()});
}

int slurm_main(const Parsed& parsed) {
  const fs::path file = fs::absolute(parsed.positionals[0]).lexically_normal();
  JobList list = read_job_file(file);
  check_jobs(list);
  const SlurmOptions options = asked_of_slurm(parsed, list);
  const BatchFolder batch = folder_of_batch(parsed, file);
  const auto jobs = static_cast<std::int64_t>(list.jobs.size());
  const std::int64_t most =
      slurm_flag(parsed, "--jobs-per-task",
                 std::max(usual_jobs_of_a_task,
                          (jobs + std::int64_t{most_tasks} - 1) / std::int64_t{most_tasks}));
  if (parsed.has("--dry-run")) {
    Ledger all = ledger_for_plan(batch);
    plan_shares(all, std::move(list), static_cast<std::size_t>(most));
    show_scripts(batch, all, options);
    return exit_finished;
  }
  check_sbatch();
  make_directories(batch.path / "shares");
  write_record(batch, file, options);
  const auto lock = RunLock::take(batch.lock(), lock_rules(batch.path, "batch"));
  Ledger all = ledger_to_read(batch);
  const SharePlan plan = plan_shares(all, std::move(list), static_cast<std::size_t>(most));
  write_shares(batch, plan);
  say(added_text(batch, plan.added));
  return submit_left(batch, all, options);
}

// If Slurm does not bind tasks to cores, limits this process to the number of cores that Slurm
// gave. Each share begins at another core.
void keep_to_allotment(std::int64_t share) {
  const char* const given = std::getenv("SLURM_CPUS_ON_NODE");
  const auto count = whole_number<int>(given ? given : "", 1);
  cpu_set_t mine;
  if (!count || ::sched_getaffinity(0, sizeof mine, &mine) != 0) return;
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mine)) cores.push_back(core);
  const auto want = static_cast<std::size_t>(*count);
  if (cores.size() <= want) return;
  cpu_set_t kept;
  CPU_ZERO(&kept);
  for (std::size_t i = 0; i < want; ++i) {
    const std::size_t place = (static_cast<std::size_t>(share) - 1) * want + i;
    CPU_SET(static_cast<std::size_t>(cores[place % cores.size()]), &kept);
  }
  ::sched_setaffinity(0, sizeof kept, &kept);
}

BatchFolder batch_of_task(const std::string& path, std::int64_t share) {
  const BatchFolder batch{fs::absolute(path).lexically_normal()};
  std::error_code ignored;
  if (!fs::exists(share_folder(batch, share).ledger(), ignored))
    throw Error(cat("the batch ", path, " has no share ", share),
                "a task of lockstep batch slurm runs this; was the batch moved or removed?");
  return batch;
}

int slurm_task_main(const Parsed& parsed) {
  const auto share = whole_number<std::int64_t>(parsed.positionals[1], 1);
  if (!share) throw Error("lockstep batch slurm-task is run by tasks of lockstep batch slurm");
  const BatchFolder batch = batch_of_task(parsed.positionals[0], *share);
  const BatchFolder own = share_folder(batch, *share);
  if (const auto holder = lock_holder(own.lock(), lock_rules(own.path))) {
    say(cat("share ", *share, " is run by process ", holder->pid, " on ", holder->host,
            " already"));
    return exit_finished;
  }
  keep_to_allotment(*share);
  {
    Ledger ledger = Ledger::open(own.ledger());
    ledger.set_fact("host", host_name());
    if (ledger.is_paused()) {
      say("the batch is paused: lockstep batch unpause and resume hand it in again");
      return exit_finished;
    }
  }
  if (const std::int64_t held = release_held(batch, *share); held > 0)
    say(cat(held, held == 1 ? " job waits" : " jobs wait",
            " for jobs of other shares that have not succeeded"));
  Parsed resume = parsed;
  resume.positionals = {own.path.string()};
  const int code = batch_resume_command().run(resume);
  Ledger all = ledger_to_read(batch);
  if (work_left(all).empty()) print(gathered(batch, all) + batch_summary(batch, all));
  return code;
}

void append_flags(std::vector<Flag>& flags, const std::vector<Flag>& more) {
  flags.insert(flags.end(), more.begin(), more.end());
}

}  // namespace

int resume_under_slurm(const Parsed& parsed, const BatchFolder& batch) {
  SlurmOptions options = recorded_options(batch);
  std::vector<std::string> known;
  for (const Flag& flag : task_flags) known.push_back(flag.name);
  for (const auto& [flag, values] : parsed.values)
    if (std::find(known.begin(), known.end(), flag) == known.end())
      throw Error(cat(flag, " is not for a batch that runs under Slurm"),
                  "lockstep batch slurm FILE hands it in with other options");
  if (const std::vector<std::string> words = task_words(parsed); !words.empty())
    options.task_words = words;
  if (parsed.has("--grace")) options.notice_s = notice_s(parsed);
  check_sbatch();
  const auto lock = RunLock::take(batch.lock(), lock_rules(batch.path, "batch"));
  Ledger all = ledger_to_read(batch);
  return submit_left(batch, all, options);
}

void refuse_slurm(const BatchFolder& batch, const std::string& command) {
  if (has_shares(batch))
    throw Error(cat("the batch ", batch.path.string(), " runs under Slurm, and ", command,
                    " is for batches of this machine"),
                "change its job file and run lockstep batch slurm FILE again: what is new is "
                "added; or choose another --name");
}

std::string shares_text(const BatchFolder& batch) {
  std::size_t running = running_shares(batch).size();
  const std::size_t shares = shares_of(batch).size();
  std::string text = cat(shares, shares == 1 ? " share" : " shares", ": ", running,
                         running == 1 ? " runs" : " run");
  if (const auto tasks = slurm_tasks(batch)) {
    const auto waiting = std::count_if(tasks->begin(), tasks->end(), [](const auto& task) {
      return task.second.state == "PENDING";
    });
    text += cat(", ", waiting, waiting == 1 ? " waits" : " wait", " in Slurm's queue");
  }
  return text;
}

Command batch_slurm_command() {
  std::vector<Flag> flags{
      {"--name", "NAME", "name of the batch, a folder in run.root (default: the file's name)"},
      {"--dry-run", "", "print the script for sbatch; write and run nothing"},
      {"--jobs-per-task", "N", "most jobs of each task (default 100; more beyond 1000 tasks)"},
      {"--at-once", "N", "most tasks at once (default: as many as there is room for)"},
      {"--partition", "NAME", "Slurm's partition"},
      {"--time", "TIME",
       "time limit of each task, in Slurm's form (minutes, 4:00:00) or such as "
       "4h30m"},
      {"--gpus-per-task", "N", "GPUs of each task (default: what the largest job needs)"},
      {"--cpus-per-task", "N",
       "cores of each task (default: enough for the jobs that its GPUs "
       "hold)"},
      {"--sbatch", "OPTION",
       "one more option of sbatch, such as --sbatch=--account=vision; may be "
       "repeated"}};
  append_flags(flags, task_flags);
  return {.name = "batch slurm",
          .operands = "FILE",
          .summary = "run a job file as a Slurm job array, many jobs in each task",
          .details =
              "lockstep batch slurm jobs.toml --partition gpu --time 4:00:00 --gpus-per-task 1\n"
              "Running it again submits jobs that are new, were changed, or are left. status, "
              "logs, analyze, retry,\n"
              "resume, cancel and wait work as for every batch.",
          .flags = std::move(flags),
          .min_positionals = 1,
          .max_positionals = 1,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .run = slurm_main,
          .takes_files = true};
}

Command batch_slurm_task_command() {
  return {.name = "batch slurm-task",
          .operands = "BATCH SHARE",
          .flags = task_flags,
          .min_positionals = 2,
          .max_positionals = 2,
          .run = slurm_task_main,
          .hidden = true};
}

}  // namespace lockstep::cli
