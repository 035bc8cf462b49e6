// Implements `lockstep batch run` and `resume`: many commands on all cores and devices.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/process/program.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "core/base/whole_number.h"
#include "core/config/options.h"
#include "core/config/parse.h"
#include "planning/words.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/signals.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/names.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/batch/batch_reports.h"
#include "tools/cli/batch/batch_search.h"
#include "tools/cli/batch/batch_slurm.h"
#include "tools/cli/batch/batch_view.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/machine_facts.h"
#include "tools/cli/output.h"
#include "tools/cli/run_root.h"
#include "tools/jobs/analysis/batch_text.h"
#include "tools/jobs/job_file/check_jobs.h"
#include "tools/jobs/job_file/job_file.h"
#include "tools/jobs/job_file/job_requests.h"
#include "tools/jobs/job_file/job_words.h"
#include "tools/jobs/schedule/near_cores.h"
#include "tools/jobs/schedule/other_tenants.h"
#include "tools/jobs/schedule/scheduler.h"
#include "tools/jobs/search/expectation.h"
#include "tools/monitor/gpu/gpu_log.h"

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

std::vector<int> cores_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  const auto allowed = static_cast<std::size_t>(std::max(host_info().cores, 1));
  if (cores.size() > allowed) cores.resize(allowed);  // the quota of a cgroup
  if (cores.empty()) cores.push_back(0);
  return cores;
}

// Looks for GPUs only if a job asks for one. Other batches need neither the driver nor NVML.
std::vector<Device> batch_devices(const Parsed& parsed, bool any_wants_gpu) {
  if (!any_wants_gpu) return {};
  std::vector<Device> devices;
  if (const std::string like = parsed.value("--devices-like"); !like.empty())
    devices = imagine_devices(like, probe(), host_info(), ::getenv("CUDA_VISIBLE_DEVICES"));
  else
    devices = devices_for(parsed.value("--devices"));
  std::erase_if(devices, [](const Device& device) { return device.kind != DeviceKind::cuda; });
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i].uuid.empty()) devices[i].uuid = cat("device ", i);  // the GPU is not present
  return devices;
}

int slots_of(const Parsed& parsed) {
  if (!parsed.has("--slots")) return 0;
  const auto slots = whole_number<int>(parsed.value("--slots"), 1, most_slots);
  if (!slots)
    throw Error(cat("--slots must be a number from 1 to ", most_slots, ", but is ",
                    parsed.value("--slots")));
  return *slots;
}

BatchResources resources_of(const Parsed& parsed, const std::vector<Device>& devices) {
  BatchResources resources{.cores = cores_of_this_process(), .slots = slots_of(parsed)};
  for (const Device& device : devices) {
    resources.devices.push_back(device.uuid);
    resources.near.push_back(near_cores(device.pci_bus_id));
  }
  return resources;
}

double number_of(const Parsed& parsed, const std::string& flag, double otherwise, double most) {
  if (!parsed.has(flag)) return otherwise;
  const auto number = detail::parse_real(parsed.value(flag));
  if (!number || *number < 0 || *number > most)
    throw Error(cat(flag, " must be a number from 0 to ", detail::format_real(most), ", but is ",
                    parsed.value(flag)));
  return *number;
}

int retries_of(const Parsed& parsed) {
  if (!parsed.has("--retries")) return 0;
  const auto number = whole_number<int>(parsed.value("--retries"), 0, most_retries);
  if (!number)
    throw Error(cat("--retries must be a whole number from 0 to ", most_retries, ", but is ",
                    parsed.value("--retries")));
  return *number;
}

std::uint64_t log_limit_of(const Parsed& parsed) {
  constexpr double usual_mb = 64, most_mb = 1e9, bytes = 1 << 20;
  return static_cast<std::uint64_t>(number_of(parsed, "--log-limit-mb", usual_mb, most_mb) * bytes);
}

const std::vector<Flag> job_flags{
    {"--cpus", "N", "cores of each job (default 1)"},
    {"--gpus", "N", "GPUs of each job: 0, 1, 2 … or a part such as 0.25 (default 0)"},
    {"--retries", "N", "how often a job that failed is tried again (default 0)"},
    {"--retry-delay", "TIME", "time before each retry (default 0s)"},
    {"--timeout", "TIME", "a try that takes longer is terminated"},
    {"--workers", "kept", "a process may stay for the next job of its program", "word kept|new"},
    {"--shell", "", "the command is a line for the shell"},
    {"--arg-file", "FILE", "values from the lines of a file; - is standard input", "file"},
    {"-a", "FILE", "the same", "file"}};

const std::vector<Flag> place_flags{
    {"--devices", "LIST", "GPUs for jobs that ask for them: all, 0,1 or UUIDs (default all)",
     "devices"},
    {"--share", "", "also use GPUs on which other programs run"},
    {"--grace", "TIME", "time from SIGTERM to SIGKILL when a job is terminated (default 10s)"},
    {"--log-limit-mb", "N",
     "size of a job's log beyond which only its beginning and its newest part are kept (default "
     "64; 0: no limit)"},
    {"--slots", "N", "most jobs at once (default: as many as the cores allow)"},
    {"--expect", "WHAT",
     "exit code 4 unless it holds at the end: 'gpu_activity>=40%' (mean of each GPU), "
     "'sm_activity>=20%', 'failed<=15%' (of all jobs; the batch may then have such failures); with "
     "commas, or again"}};

// Defaults for jobs whose command is on the command line.
JobDefaults word_defaults(const Parsed& parsed) {
  JobDefaults defaults;
  defaults.cpus = number_of(parsed, "--cpus", 1, most_cpus);
  if (parsed.has("--gpus")) defaults.gpus = parse_gpus(parsed.value("--gpus"));
  defaults.retries = retries_of(parsed);
  defaults.retry_delay_s = duration_of(parsed, "--retry-delay", 0, 0);
  if (parsed.has("--timeout")) defaults.timeout_s = duration_of(parsed, "--timeout", 0, 0.001);
  defaults.shell = parsed.has("--shell");
  defaults.keeps_worker = parse_workers(parsed.value("--workers", "new"));
  for (const char* flag : {"--arg-file", "-a"})
    for (const std::string& file : parsed.all(flag)) defaults.arg_files.push_back(file);
  return defaults;
}

struct Asked {
  std::optional<JobSource> jobs;
  std::string name;    // empty: named after the current time
  std::string source;  // the job file, or the command
  bool is_file = false;
};

// A job file defines its jobs itself, so flags for jobs are refused.
void refuse_job_flags(const Parsed& parsed) {
  for (const Flag& flag : job_flags)
    if (parsed.has(flag.name))
      throw Error(cat(flag.name, " is about jobs whose command stands after --, but ",
                      parsed.positionals[0], " says what its jobs are"),
                  "write it into the file: lockstep help job file says where its keys are listed");
}

Asked asked_jobs(const Parsed& parsed) {
  Asked asked;
  if (!parsed.positionals.empty()) {
    if (!parsed.program.empty())
      throw Error("a job file and a command after -- cannot both be given",
                  "put the command into the job file, or leave the file out");
    refuse_job_flags(parsed);
    asked.is_file = true;
    asked.source = fs::absolute(parsed.positionals[0]).lexically_normal().string();
    asked.jobs = job_file_source(asked.source);
    asked.name = fs::path(asked.source).stem().string();
  } else if (!parsed.program.empty()) {
    asked.source = join(parsed.program, " ");
    asked.jobs = job_words_source(parsed.program, word_defaults(parsed));
  } else {
    throw Error("lockstep batch run needs a job file, or a command after --",
                "for example: lockstep batch run jobs.toml, or: lockstep batch run -- python3 "
                "train.py --lr {1} ::: 0.1 0.01");
  }
  if (parsed.has("--name")) asked.name = parsed.value("--name");
  return asked;
}

int show_plan(const Asked& asked, const BatchResources& resources,
              const std::vector<Device>& devices) {
  print(dry_run_text(asked.jobs->list(), resources, devices));
  return exit_finished;
}

// True if the folder is empty, or if it only holds remains of batch.json from a start that was
// killed.
bool is_vacant(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (!entry.path().filename().string().starts_with(".batch.json.")) return false;
  return true;
}

BatchFolder make_batch(const Parsed& parsed, const Asked& asked) {
  const fs::path root = run_root(parsed);
  const std::string name = asked.name.empty() ? make_folder_by_time(root, "batch") : asked.name;
  BatchFolder batch{fs::absolute(root / name).lexically_normal()};
  refuse_slurm(batch, "lockstep batch run");
  std::error_code ignored;
  if (!fs::exists(batch.record(), ignored) && !is_vacant(batch.path))
    throw Error(cat(batch.path.string(), " is there already, and is no batch"),
                "choose another name with --name");
  make_directories(batch.path);
  if (!fs::exists(batch.record(), ignored))
    write_file_atomic(batch.record(), json_text({{"kind", "batch"},
                                                 {"source", asked.source},
                                                 {"lockstep", version()},
                                                 {"created", system_clock().wall_s()}}) +
                                          "\n");
  return batch;
}

// After the first signal, no more jobs start. After the second, running jobs are ended.
void take_signals(SignalPipe& signals, Scheduler& scheduler, int& count) {
  for (const int number : signals.take()) {
    if (number == SIGUSR1) continue;
    ++count;
    if (count == 1 && number == SIGINT) {
      scheduler.drain();
      const auto running = static_cast<std::int64_t>(scheduler.running().size());
      say(cat("interrupted: ", count_of(running, "running job"),
              " may end; Ctrl-C again ends them"));
    } else {
      scheduler.stop();
      if (count <= 2) say("stopping: running jobs are ended, and run again with resume");
    }
  }
}

// Records facts about this start that comparisons need. slots: 0 if the user set no limit.
void note_machine(Ledger& ledger, const std::vector<Device>& devices, int slots, bool searches) {
  nlohmann::json machine = machine_facts(devices);
  machine["lockstep"] = version();
  machine["slots"] = searches    ? nlohmann::json("by --search")
                     : slots > 0 ? nlohmann::json(slots)
                                 : nlohmann::json("as the cores allow");
  ledger.set_fact("machine", to_line(machine));
}

using Expectations = std::vector<Expectation>;

Expectations expectations_of(const Parsed& parsed) {
  Expectations all;
  for (const std::string& list : parsed.all("--expect"))
    for (const std::string& text : split(list, ',')) all.emplace_back(trim(text));
  return all;
}

bool cannot_do_without_gpu(const GpuRequest& gpus) {
  return gpus.kind == GpuRequest::Kind::whole || gpus.kind == GpuRequest::Kind::share;
}

// Keys of jobs that have ended, if the batch exists already.
std::unordered_set<std::string> ended_before(const Parsed& parsed, const std::string& name) try {
  std::unordered_set<std::string> keys;
  const BatchFolder batch{fs::absolute(fs::path(run_root(parsed)) / name).lexically_normal()};
  std::error_code ignored;
  if (name.empty() || !fs::exists(batch.ledger(), ignored)) return keys;
  Ledger ledger = Ledger::open_to_read(batch.ledger());
  Statement rows(ledger.database(),
                 "SELECT key FROM job WHERE state NOT IN ('waiting', 'running')");
  while (rows.step()) keys.insert(rows.text(0));
  return keys;
} catch (const Error&) {  // the error is reported when the batch is opened for writing
  return {};
}

GpuNeeds gpu_needs(const Parsed& parsed, const Asked& asked) {
  GpuNeeds needs{.any = asked.jobs->wants_gpu()};
  if (!needs.any) return needs;
  const std::unordered_set<std::string> ended = ended_before(parsed, asked.name);
  asked.jobs->each([&](const Job& job) {
    needs.jobs += cannot_do_without_gpu(job.gpus) && !ended.contains(job.key) ? 1 : 0;
  });
  return needs;
}

// The GPU requirements of the remaining jobs.
GpuNeeds gpu_needs(Ledger& ledger) {
  GpuNeeds needs{.any = ledger.wants_gpu()};
  needs.is_resumed = true;
  if (needs.any)
    for (const QueuedJob& job : ledger.queue())
      needs.jobs += job.state == JobState::waiting && cannot_do_without_gpu(job.gpus) ? 1 : 0;
  return needs;
}

void check_expectations(const Parsed& parsed, const GpuNeeds& needs) {
  for (const Expectation& expectation : expectations_of(parsed))
    if (expectation.is_of_gpus() && !needs.any)
      throw Error(cat("--expect ", join(parsed.all("--expect"), ","),
                      " is about GPUs, but no job asks for one"),
                  needs.on_gpu.empty() ? "give the jobs gpus = 1, or a part such as 0.25"
                                       : cat(needs.on_gpu, " trains on GPUs"));
}

// Prints the result of each expectation. Returns whether all are met.
bool meets(const Expectations& expectations, const BatchOutcome& outcome) {
  bool all_met = true;
  for (const Expectation& expectation : expectations) {
    const Expectation::Answer answer = expectation.answer(outcome);
    say(cat("--expect ", answer.text));
    all_met = all_met && answer.met;
  }
  return all_met;
}

// The exit code of a batch that was not interrupted. why_ending: the reason if the batch ended
// itself early.
int batch_exit_code(const BatchCounts& counts, const std::string& why_ending,
                    const Expectations& expectations, bool as_expected) {
  const bool failures_are_judged =
      std::any_of(expectations.begin(), expectations.end(),
                  [](const Expectation& one) { return one.is_of_failures(); });
  const bool any_failed = counts.failed > 0 || counts.blocked > 0;
  if (!why_ending.empty() || (any_failed && !failures_are_judged)) return exit_failed;
  if (counts.left() > 0) return exit_stopped;
  return as_expected ? exit_finished : exit_unexpected;
}

// The activity of GPUs since --search chose a setting. Empty if it chose none, or if there are no
// samples since.
std::vector<GpuActivity> since_choice(const std::optional<BatchSearch>& search,
                                      const std::optional<GpuLog>& log) {
  if (!search || !search->chosen_at() || !log) return {};
  std::vector<GpuActivity> gpus = activity_between(*search->chosen_at(), log->sums());
  const bool is_sampled =
      std::all_of(gpus.begin(), gpus.end(), [](const GpuActivity& gpu) { return gpu.samples > 0; });
  return is_sampled ? gpus : std::vector<GpuActivity>();
}

// The flags of this start for the resume command, such as " --slots 4 --grace 30s". slots: the
// number of slots at the end, or 0 if the user set no limit.
std::string repeated_flags(const Parsed& parsed, int slots) {
  std::string words = slots > 0 ? cat(" --slots ", slots) : "";
  std::vector<Flag> flags = place_flags;
  const std::vector<Flag> reports = report_flags();
  flags.insert(flags.end(), reports.begin(), reports.end());
  for (const Flag& flag : flags) {
    if (flag.name == "--slots") continue;
    for (const std::string& value : parsed.all(flag.name))
      words += cat(" ", flag.name, value.empty() ? "" : " " + shell_word(value));
  }
  return words;
}

int run_batch(const Parsed& parsed, const BatchFolder& batch, Ledger& ledger,
              const BatchResources& resources, const std::vector<Device>& devices) {
  const Expectations expectations = expectations_of(parsed);
  std::optional<SearchPlan> plan = plan_search(parsed, ledger, resources, expectations);
  note_machine(ledger, devices, resources.slots, plan.has_value());
  if (const std::string note = crowded_note(ledger, resources); !note.empty()) say(note);
  SignalPipe signals;
  OtherTenants others(devices);
  const fs::path tool = program_folder() / "lockstep";
  Scheduler scheduler(ledger,
                      {.folder = batch,
                       .resources = resources,
                       .supervisor_program = {tool.string(), "batch", "supervise"},
                       .log_limit_bytes = log_limit_of(parsed),
                       .grace_s = duration_of(parsed, "--grace", 10, 0),
                       .lease_folder = DeviceLeases::usual_folder(),
                       .used_by = parsed.has("--share") ? nullptr : others.asker(),
                       .watch = devices.empty() ? nullptr : std::make_unique<DeviceWatch>(devices),
                       .searched_kind = plan ? plan->kind : std::string()});
  std::optional<GpuLog> gpu_log;
  if (!devices.empty()) gpu_log.emplace(GpuLogSpec{.file = batch.gpu_log(), .devices = devices});
  if (gpu_log) gpu_log->begin_counting();
  const std::string name = batch_word(batch);
  if (scheduler.paused())
    say(cat("the batch is paused: lockstep batch unpause ", name, " lets its jobs start"));
  BatchView view(scheduler, batch, devices);
  BatchReports reports(parsed, batch, ledger);
  std::optional<BatchSearch> search;
  int interrupts = 0;
  scheduler.on_end([&](const RunningAttempt& running, const Settled& settled) {
    view.ended(running, settled);
    if (search) search->ended(running, settled);
    reports.ended(running, settled, scheduler.counts().total);
    reports.halt(scheduler);  // done immediately, before another job starts in its place
  });
  scheduler.on_never([&](std::int64_t job) { reports.will_not_run(job); });
  scheduler.on_note([&](const std::string& text) { view.note(text); });
  if (plan)  // the search may cancel jobs, and the reports must record that
    search.emplace(std::move(*plan), scheduler, ledger, gpu_log ? &*gpu_log : nullptr,
                   [&](const std::string& text) { view.note(text); });
  while (scheduler.turn(view.interval_s(), signals.fd())) {
    take_signals(signals, scheduler, interrupts);
    if (search) search->look();
    reports.release(scheduler);
    view.show();
  }
  if (search) search->finish();
  view.finish();
  reports.finish();
  const std::vector<GpuActivity> chosen_activity = since_choice(search, gpu_log);
  const GpuLogResult activity = gpu_log ? gpu_log->stop() : GpuLogResult();
  const BatchCounts& counts = scheduler.counts();
  const std::string outcome = gathered(batch, ledger);
  if (reports.owns_output()) {
    say(trim(outcome + batch_summary(batch, ledger)));
  } else {
    if (!outcome.empty()) print_result_of_run(outcome);
    print_result_of_run(batch_summary(batch, ledger));
  }
  if (const std::string text = gpu_activity_text(activity, batch.gpu_log()); !text.empty())
    say(text);
  const bool as_expected =
      meets(expectations, {.gpus = chosen_activity.empty() ? activity.gpus : chosen_activity,
                           .failed = counts.failed + counts.blocked,
                           .total = counts.total});
  if (interrupts > 0) {
    // a search sets its own slots
    const int slots = search ? 0 : scheduler.resources().all().slots;
    if (counts.left() > 0)
      say(cat("go on with: lockstep batch resume ", name, repeated_flags(parsed, slots)));
    return exit_interrupted;
  }
  if (reports.halted_for_success()) return as_expected ? exit_finished : exit_unexpected;
  return batch_exit_code(counts, scheduler.why_ending(), expectations, as_expected);
}

void retry_skipped(Ledger& ledger) {
  std::vector<std::int64_t> jobs;
  Statement skipped(ledger.database(), "SELECT id FROM job WHERE listed = 1 AND state = 'skipped'");
  while (skipped.step()) jobs.push_back(skipped.integer(0));
  Transaction transaction(ledger.database());
  for (const std::int64_t job : jobs) ledger.forget_tries(job);
  transaction.commit();
}

// made_by: as in run_made_jobs. "" for a job file that the user wrote.
int run_asked_jobs(const Parsed& parsed, const std::string& made_by) {
  check_place_flags(parsed);
  Asked asked = asked_jobs(parsed);
  check_jobs(*asked.jobs);
  check_search(parsed, *asked.jobs);
  check_gpus(parsed, gpu_needs(parsed, asked));
  const std::vector<Device> devices = batch_devices(parsed, asked.jobs->wants_gpu());
  const BatchResources resources = resources_of(parsed, devices);
  if (parsed.has("--dry-run") || parsed.has("--devices-like"))
    return show_plan(asked, resources, devices);
  const BatchFolder batch = make_batch(parsed, asked);
  const auto lock = RunLock::take(batch.lock(), lock_rules(batch.path, "batch"));
  Ledger ledger = Ledger::open(batch.ledger());
  const AddedJobs added = ledger.add(*asked.jobs, asked.is_file);
  asked.jobs.reset();  // the ledger stores them now
  ledger.set_made_by(made_by);
  if (!made_by.empty()) retry_skipped(ledger);
  say(begin_text(batch, added, resources, devices));
  return run_batch(parsed, batch, ledger, resources, devices);
}

int batch_run_main(const Parsed& parsed) { return run_asked_jobs(parsed, ""); }

int batch_add_main(const Parsed& parsed) {
  const BatchFolder batch = open_batch(parsed);
  if (parsed.program.empty())
    throw Error("lockstep batch add needs a command after --",
                "for example: lockstep batch add g -- python3 train.py --lr {1} ::: 0.3 0.5");
  const JobList list = jobs_from_words(parsed.program, word_defaults(parsed));
  check_jobs(list);
  Ledger ledger = Ledger::open(batch.ledger());
  const AddedJobs added = ledger.add(list, false);
  const bool runs = batch_holder(batch).has_value();
  if (runs) ledger.request("add", 0, "");
  say(cat(added.added, added.added == 1 ? " job added" : " jobs added",
          added.known > 0 ? cat(", ", added.known, " were there already") : "",
          runs ? "" : "; lockstep batch resume " + batch_word(batch) + " runs them"));
  return exit_finished;
}

int batch_resume_main(const Parsed& parsed) {
  const BatchFolder batch = open_batch(parsed);
  check_place_flags(parsed);
  const auto lock = RunLock::take(batch.lock(), lock_rules(batch.path, "batch"));
  Ledger ledger = Ledger::open(batch.ledger());
  check_gpus(parsed, gpu_needs(ledger));
  const std::vector<Device> devices = batch_devices(parsed, ledger.wants_gpu());
  const BatchResources resources = resources_of(parsed, devices);
  say(cat("batch ", batch.path.string(), ": ", counts_text(ledger.counts())));
  return run_batch(parsed, batch, ledger, resources, devices);
}

void append(std::vector<Flag>& flags, const std::vector<Flag>& more) {
  flags.insert(flags.end(), more.begin(), more.end());
}

std::vector<Flag> with_job_flags(std::vector<Flag> flags) {
  append(flags, job_flags);
  append(flags, place_flags);
  append(flags, search_flags());
  append(flags, report_flags());
  return flags;
}

std::vector<TriedFlag> tried_in_run() {
  std::vector<TriedFlag> tried = tried_slots();
  for (const char* name : {"--num-workers", "--max-workers", "--n-jobs", "--workers"})
    tried.push_back({name, tried.front().hint});
  return tried;
}

std::vector<Flag> resume_flags() {
  std::vector<Flag> flags = place_flags;
  append(flags, search_flags());
  append(flags, report_flags());
  return flags;
}

}  // namespace

void check_place_flags(const Parsed& parsed) {
  slots_of(parsed);
  log_limit_of(parsed);
  duration_of(parsed, "--grace", 10, 0);
  expectations_of(parsed);
  check_reports(parsed);
}

void check_gpus(const Parsed& parsed, const GpuNeeds& needs) {
  check_expectations(parsed, needs);
  const bool only_shows = parsed.has("--dry-run") || parsed.has("--devices-like");
  if (needs.jobs == 0 || only_shows || !batch_devices(parsed, true).empty()) return;
  throw Error(cat(needs.jobs == 1 ? "a job needs" : cat(needs.jobs, " jobs need"),
                  " a GPU, and there is none"),
              cat(needs.on_cpu.empty() ? "" : cat(needs.on_cpu, " trains on the CPU; "),
                  "lockstep doctor says which GPUs it sees and why none",
                  needs.is_resumed ? "" : "; --devices-like 2xT4 shows where the jobs would go"));
}

JobRoom room_for_jobs(const Parsed& parsed, double cpus, const std::string& gpus) {
  const QueuedJob job{.cpus = cpus, .gpus = parse_gpus(gpus)};
  const bool on_gpus = job.gpus.kind != GpuRequest::Kind::none;
  const BatchResources all = resources_of(parsed, batch_devices(parsed, on_gpus));
  Resources free(all);
  JobRoom room{.cores = static_cast<int>(all.cores.size())};
  while (free.place(job)) ++room.jobs;
  return room;
}

int run_made_jobs(const Parsed& parsed, const std::string& made_by) {
  return run_asked_jobs(parsed, made_by);
}

Command batch_run_command() {
  return {
      .name = "batch run",
      .operands = "FILE | -- COMMAND … [::: VALUE …]",
      .summary = "run many commands on all cores and GPUs, none lost",
      .details =
          "lockstep batch run jobs.toml\n"
          "lockstep batch run --gpus 0.25 -- python3 train.py --lr {1} ::: 0.1 0.01 0.001\n"
          "Running a job file again runs jobs that are new, were changed, or are left. Jobs "
          "that failed run\n"
          "again after lockstep batch retry.",
      .flags = with_job_flags(
          {{"--name", "NAME", "name of the batch, a folder in run.root (default: the file's name)"},
           {"--dry-run", "", "print every job and where it would go; run nothing"},
           {"--devices-like", "LIST",
            "as --dry-run, with devices that need not be there, such as 8xT4", "devices"}}),
      .max_positionals = 1,
      .takes_assignments = true,
      .only_options = {"run.root"},
      .program_after_dashes = true,
      .run = batch_run_main,
      .tried_flags = tried_in_run(),
      .takes_files = true};
}

Command batch_add_command() {
  std::vector<Flag> flags = job_flags;
  return {.name = "batch add",
          .operands = "BATCH -- COMMAND … [::: VALUE …]",
          .summary = "add jobs to a batch, also while it runs",
          .details = "Jobs that are there already, by their content, are not added again.",
          .flags = std::move(flags),
          .min_positionals = 1,
          .max_positionals = 1,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .program_after_dashes = true,
          .complete = "batch",
          .run = batch_add_main};
}

Command batch_resume_command() {
  return {
      .name = "batch resume",
      .operands = "BATCH",
      .summary = "go on with a batch where it was stopped",
      .details = "Jobs that succeeded do not run again. Failed ones do with lockstep batch retry.",
      .flags = resume_flags(),
      .min_positionals = 1,
      .max_positionals = 1,
      .takes_assignments = true,
      .only_options = {"run.root"},
      .complete = "batch",
      .run = batch_resume_main,
      .tried_flags = tried_in_run()};
}

}  // namespace lockstep::cli
