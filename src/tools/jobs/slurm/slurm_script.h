// Writes the script of a Slurm job array whose tasks run shares of a batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/job.h"

namespace lockstep {

// The requests to Slurm for each task. All of them are kept in batch.json for `resume`.
struct SlurmOptions {
  std::string partition;          // if empty, Slurm's default
  std::string time;               // in Slurm's format; if empty, the partition's default
  int cpus = 1, gpus = 0;         // for each task
  std::int64_t at_once = 0;       // limit for concurrent tasks; 0: no limit
  std::vector<std::string> more;  // texts that follow #SBATCH, as the user wrote them
  int notice_s = 60;              // time from SIGTERM to the end of the time limit
  // options that each task passes to its own `lockstep batch resume`
  std::vector<std::string> task_words;
};

// Converts a time to Slurm's format. Accepts Slurm's own forms, such as "90" (minutes), "4:00:00",
// "1-12" and "UNLIMITED", and also "4h30m". Throws Error for other forms.
std::string slurm_time(const std::string& text);

// Returns the text as a word for an #SBATCH line, quoted if necessary. Throws Error if it contains
// a line break.
std::string sbatch_word(const std::string& text);

// Throws Error if the text is not an option of sbatch or has several lines. Also throws Error for
// an option that the script itself sets.
void check_sbatch_text(const std::string& text);

// The largest number of GPUs that a job of the list needs. It is the default number of GPUs of a
// task.
int most_gpus(const JobList& list);
int cores_for_task(const JobList& list, int gpus);  // cores for all jobs that share the task's GPUs
// Throws Error, which names a job that needs more than a task has.
void check_task_holds_jobs(const JobList& list, const SlurmOptions& options);

// Returns the name by which a batch's tasks are found in Slurm's queue.
std::string slurm_job_name(const BatchFolder& batch);

// shares: the shares that the tasks 0, 1, 2, … run.
std::string slurm_script(const BatchFolder& batch, const std::string& program,
                         const SlurmOptions& options, const std::vector<std::int64_t>& shares);

}  // namespace lockstep
