#include "tools/jobs/slurm/slurm_script.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/options.h"
#include "tools/jobs/job_file/placeholders.h"

namespace lockstep {
namespace {

constexpr std::string_view plain_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";

bool is_plain(const std::string& text) {
  return !text.empty() && text.find_first_not_of(plain_characters) == std::string::npos;
}

// The option without its value: "--account" for "--account=ml", and "-A" for "-Aml".
std::string option_name(const std::string& text) {
  if (text.starts_with("--")) return text.substr(0, text.find_first_of("= \t"));
  return text.substr(0, 2);
}

int gpus_of(const Job& job) {
  switch (job.gpus.kind) {
    case GpuRequest::Kind::whole:
      return job.gpus.devices;
    case GpuRequest::Kind::share:
    case GpuRequest::Kind::automatic:
      return 1;
    case GpuRequest::Kind::none:
      break;
  }
  return 0;
}

}  // namespace

std::string slurm_time(const std::string& text) {
  const bool is_slurms = !text.empty() && text.find_first_not_of("0123456789:-") == text.npos &&
                         std::string_view("0123456789").find(text[0]) != std::string_view::npos;
  if (is_slurms || text == "UNLIMITED" || text == "INFINITE") return text;
  double seconds = 0;
  try {
    seconds = parse_duration(text).seconds;
  } catch (const Error&) {
    throw Error(cat("--time must be a time as Slurm has it, or such as 4h30m, but is ", text),
                "write 4:00:00 for four hours, 1-12 for a day and a half");
  }
  if (seconds < 60) throw Error(cat("--time must be at least a minute, but is ", text));
  const auto all = static_cast<long>(std::ceil(seconds));
  char time[64];
  std::snprintf(time, sizeof time, "%ld:%02ld:%02ld", all / 3600, all / 60 % 60, all % 60);
  return time;
}

std::string sbatch_word(const std::string& text) {
  if (text.find_first_of("\n\r") != text.npos)
    throw Error("a path or name with a line break cannot be told to Slurm",
                "rename the folder, or choose another with run.root");
  if (is_plain(text)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

void check_sbatch_text(const std::string& text) {
  if (!text.starts_with("-") || text.size() < 2)
    throw Error(cat("--sbatch must be an option of sbatch, but is ", text),
                "for example: --sbatch=--account=vision");
  if (text.find_first_of("\n\r") != text.npos)
    throw Error("--sbatch must be one line", "repeat --sbatch for each option");
  const std::string name = option_name(text);
  for (const char* own : {"--array", "-a", "--chdir", "-D", "--job-name", "-J", "--wrap",
                          "--dependency", "-d", "--signal"})
    if (name == own)
      throw Error(cat(name, " is set by lockstep batch slurm itself"),
                  name == "--array" || name == "-a"
                      ? "--jobs-per-task and --at-once decide the array"
                      : "leave it out");
}

int cores_for_task(const JobList& list, int gpus) {
  double most = 1;
  for (const Job& job : list.jobs) {
    double at_once = 1;
    if (job.gpus.kind == GpuRequest::Kind::share)
      at_once = gpus * std::floor(1 / job.gpus.share);
    else if (job.gpus.kind == GpuRequest::Kind::whole)
      at_once = gpus / std::max(job.gpus.devices, 1);
    most = std::max(most, job.cpus * std::max(at_once, 1.0));
  }
  return static_cast<int>(std::ceil(most));
}

int most_gpus(const JobList& list) {
  int most = 0;
  for (const Job& job : list.jobs) most = std::max(most, gpus_of(job));
  return most;
}

void check_task_holds_jobs(const JobList& list, const SlurmOptions& options) {
  for (const Job& job : list.jobs) {
    if (job.cpus > options.cpus)
      throw Error(cat("the job ", job.name, " needs ", general(job.cpus, 4),
                      " cores, but a task has ", options.cpus),
                  cat("--cpus-per-task ", std::ceil(job.cpus)));
    const bool must = job.gpus.kind != GpuRequest::Kind::automatic;
    if (must && gpus_of(job) > options.gpus)
      throw Error(cat("the job ", job.name, " needs ", gpus_of(job),
                      gpus_of(job) == 1 ? " GPU" : " GPUs", ", but a task has ", options.gpus),
                  cat("--gpus-per-task ", most_gpus(list)));
  }
}

std::string slurm_job_name(const BatchFolder& batch) {
  std::string name = "lockstep-" + batch.path.filename().string();
  for (char& c : name)
    if (c == ',' || c == '%' || !is_plain(std::string(1, c))) c = '_';
  return name;
}

std::string slurm_script(const BatchFolder& batch, const std::string& program,
                         const SlurmOptions& options, const std::vector<std::int64_t>& shares) {
  std::string text = "#!/usr/bin/env sh\n";
  const auto line = [&](const std::string& option) { text += cat("#SBATCH ", option, "\n"); };
  line("--job-name=" + sbatch_word(slurm_job_name(batch)));
  line(cat("--array=0-", shares.size() - 1, options.at_once > 0 ? cat("%", options.at_once) : ""));
  line("--chdir=" + sbatch_word(batch.path.string()));
  line("--output=slurm/%A_%a.log");
  line("--open-mode=append");
  line("--requeue");
  line(cat("--signal=B:TERM@", options.notice_s));
  line("--ntasks=1");
  line(cat("--cpus-per-task=", options.cpus));
  if (options.gpus > 0) line(cat("--gres=gpu:", options.gpus));
  if (!options.partition.empty()) line("--partition=" + sbatch_word(options.partition));
  if (!options.time.empty()) line("--time=" + sbatch_word(options.time));
  for (const std::string& more : options.more) line(more);
  std::vector<std::string> numbers;
  for (const std::int64_t share : shares) numbers.push_back(cat(share));
  std::vector<std::string> words{program, "batch", "slurm-task", batch.path.string()};
  for (std::string& word : words) word = quote_for_shell(word);
  text += cat(
      "\n# The shares of the tasks 0, 1, ...: which jobs they have is in "
      "shares/*/ledger.sqlite.\nset -- ",
      join(numbers, " "), "\nshift \"$SLURM_ARRAY_TASK_ID\"\nexec ", join(words, " "), " \"$1\"");
  for (const std::string& word : options.task_words) text += " " + quote_for_shell(word);
  return text + "\n";
}

}  // namespace lockstep
