// What Slurm is told of a batch: the script of a job array whose tasks run shares of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobs/batch_folder.h"
#include "jobs/job.h"

namespace lockstep {

// What is asked of Slurm for each task. All but the last are kept in batch.json for `resume`.
struct SlurmOptions {
  std::string partition;                // "": Slurm's default
  std::string time;                     // as Slurm writes it; "": the partition's
  int cpus = 1, gpus = 0;               // of each task
  std::int64_t at_once = 0;             // tasks at once at most; 0: as many as there is room for
  std::vector<std::string> more;        // texts behind #SBATCH, as the user wrote them
  int notice_s = 60;                    // from SIGTERM to the end of the time limit
  std::vector<std::string> task_words;  // flags of the tasks' own `lockstep batch resume`
};

// From "90" (minutes), "4:00:00", "1-12", "UNLIMITED", as Slurm has it, or "4h30m". Throws Error.
std::string slurm_time(const std::string& text);

// A word for an #SBATCH line, quoted where it must be. Throws Error if it holds a line break.
std::string sbatch_word(const std::string& text);

// Throws Error: no option, one that the script sets itself, or several lines.
void check_sbatch_text(const std::string& text);

// What the largest job needs, for tasks of which nothing else is said.
int most_gpus(const JobList& list);
int cores_for_task(const JobList& list, int gpus);  // for as many jobs as share its GPUs
// Throws Error, which names the job: it needs more than a task has.
void check_task_holds_jobs(const JobList& list, const SlurmOptions& options);

// By which the tasks of a batch are found in the queue.
std::string slurm_job_name(const BatchFolder& batch);

// shares: of the tasks 0, 1, 2, ….
std::string slurm_script(const BatchFolder& batch, const std::string& program,
                         const SlurmOptions& options, const std::vector<std::int64_t>& shares);

}  // namespace lockstep
