#include "tools/jobs/slurm/slurm_queue.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json_number.h"
#include "core/base/process/child_output.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/run/events/json_lines.h"
#include "tools/jobs/slurm/slurm_script.h"

namespace lockstep {
namespace fs = std::filesystem;

namespace {

fs::path slurm_folder(const BatchFolder& batch) { return batch.path / "slurm"; }
fs::path slurm_record(const BatchFolder& batch) {
  return slurm_folder(batch) / "submissions.jsonl";
}

bool in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split(path ? path : "/bin:/usr/bin", ':'))
    if (::access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

// The standard output of the command. Nothing if it is not installed or fails.
std::optional<std::string> answer_of(std::vector<std::string> words) {
  if (!in_path(words[0])) return std::nullopt;
  const ChildOutput output = quiet_child_output(std::move(words));
  return output.code == 0 ? std::optional(output.out) : std::nullopt;
}

// Whether a task will not run any more, although squeue still lists it.
bool is_over(const std::string& state) {
  for (const char* over : {"COMPLETING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL",
                           "PREEMPTED", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REVOKED"})
    if (state == over) return true;
  return false;
}

void note_submission(const BatchFolder& batch, const SlurmSubmission& submission) {
  const UniqueFd lines = open_lines(slurm_record(batch));
  const nlohmann::json entry{{"job", submission.job},
                             {"shares", submission.shares},
                             {"submitted", system_clock().wall_s()}};
  if (!append_line(lines.get(), to_line(entry)))
    throw Error(cat("cannot write ", slurm_record(batch).string(), ": ", errno_text(errno)),
                cat("the tasks are in Slurm's queue all the same, as job ", submission.job));
}

}  // namespace

void check_sbatch() {
  if (!in_path("sbatch"))
    throw Error("there is no sbatch here: Slurm's commands were not found in PATH",
                "run it where jobs are handed to Slurm, such as a login node; --dry-run shows the "
                "script without Slurm; lockstep batch run FILE runs the jobs on this machine");
}

std::string submit_to_slurm(const BatchFolder& batch, const std::string& script,
                            const std::vector<std::int64_t>& shares,
                            const std::vector<std::string>& after) {
  make_directories(slurm_folder(batch));
  const fs::path file = slurm_folder(batch) / cat(submissions_of(batch).size() + 1, ".sh");
  write_file_atomic(file, script);
  std::vector<std::string> words{"sbatch", "--parsable"};
  if (!after.empty()) words.push_back("--dependency=afterany:" + join(after, ":"));
  words.push_back(file.string());
  const ChildOutput output = child_output(words);
  const std::string job = split(trim(output.out), ';')[0];  // "123;cluster"
  if (output.code != 0 || !whole_number<std::int64_t>(job, 1))
    throw Error(cat("Slurm did not take the script ", file.string(), ": sbatch ended with code ",
                    output.code),
                "sbatch says why above; nothing of the batch is lost, and the same command tries "
                "again");
  note_submission(batch, {job, shares});
  return job;
}

std::vector<SlurmSubmission> submissions_of(const BatchFolder& batch) {
  std::vector<SlurmSubmission> all;
  for_each_line(slurm_record(batch), [&](const std::string& line) {
    const nlohmann::json entry = parse_object(line);
    if (entry.is_discarded() || !entry.contains("shares")) return;
    SlurmSubmission one{.job = text_or(entry, "job", ""), .shares = {}};
    for (const nlohmann::json& share : entry["shares"])
      if (const auto number = whole_number_of(share)) one.shares.push_back(*number);
    all.push_back(std::move(one));
  });
  return all;
}

std::optional<std::map<std::int64_t, SlurmTask>> slurm_tasks(const BatchFolder& batch) {
  std::map<std::int64_t, SlurmTask> tasks;
  std::map<std::string, std::vector<std::int64_t>> arrays;
  for (SlurmSubmission& one : submissions_of(batch)) arrays[one.job] = std::move(one.shares);
  if (arrays.empty()) return tasks;
  const auto answer = answer_of(
      {"squeue", "--noheader", "--array", "--name=" + slurm_job_name(batch), "--format=%F %K %T"});
  if (!answer) return std::nullopt;
  std::istringstream lines(*answer);
  std::string job, index, state;
  while (lines >> job >> index >> state) {
    const auto array = arrays.find(job);
    const auto place = whole_number<std::size_t>(index);
    if (array == arrays.end() || !place || *place >= array->second.size() || is_over(state))
      continue;
    tasks[array->second[*place]] = {.job = job, .state = state};
  }
  return tasks;
}

void cancel_pending(const BatchFolder& batch) {
  std::vector<std::string> words{"scancel", "--state=PENDING"};
  for (const SlurmSubmission& one : submissions_of(batch)) words.push_back(one.job);
  if (words.size() > 2) answer_of(std::move(words));
}

}  // namespace lockstep
