// The script of a Slurm job array whose tasks run shares of a batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/job.h"

namespace lockstep {

// Requests to Slurm for each task. All but the last are kept in batch.json for `resume`.
struct SlurmOptions {
  std::string partition;                // "": Slurm's default
  std::string time;                     // in Slurm's format; "": the partition's
  int cpus = 1, gpus = 0;               // for each task
  std::int64_t at_once = 0;             // the most concurrent tasks; 0: no limit
  std::vector<std::string> more;        // texts after #SBATCH, as the user wrote them
  int notice_s = 60;                    // from SIGTERM to the end of the time limit
  std::vector<std::string> task_words;  // flags of the tasks' own `lockstep batch resume`
};

// Converts "90" (minutes), "4:00:00", "1-12" and "UNLIMITED", which are Slurm's forms, and also
// "4h30m". Throws Error.
std::string slurm_time(const std::string& text);

// A word for an #SBATCH line, quoted if necessary. Throws Error if it contains a line break.
std::string sbatch_word(const std::string& text);

// Throws Error if the text is no option, is an option that the script sets itself, or has several
// lines.
void check_sbatch_text(const std::string& text);

// The most GPUs that a job of the list needs, as a default for tasks.
int most_gpus(const JobList& list);
int cores_for_task(const JobList& list, int gpus);  // for as many jobs as share its GPUs
// Throws Error naming a job that needs more than a task has.
void check_task_holds_jobs(const JobList& list, const SlurmOptions& options);

// The name by which a batch's tasks are found in the queue.
std::string slurm_job_name(const BatchFolder& batch);

// shares: the shares that the tasks 0, 1, 2, … run.
std::string slurm_script(const BatchFolder& batch, const std::string& program,
                         const SlurmOptions& options, const std::vector<std::int64_t>& shares);

}  // namespace lockstep
