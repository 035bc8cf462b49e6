// Describes one job of a batch: its command and its requirements, from a job file or a command
// line. An attempt is one execution of a job, and retries are further attempts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// Upper limits for requests.
inline constexpr double most_cpus = 65536;
inline constexpr int most_gpus_of_a_job = 1024;
inline constexpr int most_priority = 1'000'000;  // the lower limit is minus this
inline constexpr int most_retries = 1000;
inline constexpr int most_slots = 10'000;  // concurrent jobs of a batch

// The GPUs that one attempt of a job needs.
struct GpuRequest {
  enum class Kind {
    none,   // gpus = 0
    whole,  // gpus = 1, 2, …; with gpus = 1, jobs of one kind share a device if their memory fits
    share,  // gpus = 0.25, 0.5, …: a share of one device, so at most four jobs are on a device
    automatic,  // gpus = auto: on the CPU or a GPU, depending on which is measured to be faster
  };
  Kind kind = Kind::none;
  int devices = 0;   // for `whole`
  double share = 0;  // for `share`: 0.25 <= share < 1
  bool operator==(const GpuRequest&) const = default;
};

// The memory that a job needs on its GPU.
struct GpuMemoryRequest {
  enum class Kind {
    unknown,  // not stated; treated like `measure`
    bytes,
    measure,  // the first job of its kind runs alone and is measured
    all,      // the job gets its device for itself
  };
  Kind kind = Kind::unknown;
  std::int64_t bytes = 0;  // for Kind::bytes: memory per device
  bool operator==(const GpuMemoryRequest&) const = default;
};

struct Job {
  std::int64_t number = 0;  // from 1, in the order of the file; the value of {#}
  std::string name;         // unique in the batch, a plain file name
  std::string key;          // 32 hex digits that identify the job by content (see job_key)
  std::string kind;         // equal for all jobs that differ only in their parameters
  // pairs of name and value, in the order of the matrix
  std::vector<std::pair<std::string, std::string>> parameters;

  // In the following texts, all placeholders are filled in except those of an attempt: {out},
  // {slot}, {gpu}, {cores} and {attempt}.
  std::vector<std::string> command;  // argument list; with `shell`, one text, which is run by sh
  bool shell = false;
  // pairs of name and value, which override the batch's own variables
  std::vector<std::pair<std::string, std::string>> environment;
  std::string folder;  // working folder, absolute
  // files that must exist for success, absolute or relative to {out}
  std::vector<std::string> outputs;

  double cpus = 1;
  int whole_cores() const;  // number of cores for its threads, at least 1
  GpuRequest gpus;
  GpuMemoryRequest gpu_memory;
  int priority = 0;                // jobs with a higher value begin first
  std::vector<std::string> after;  // keys of the jobs that must have succeeded before
  int retries = 0;                 // number of attempts beyond the first
  double retry_delay_s = 0;
  std::optional<double> timeout_s;  // time limit of one attempt
  std::vector<int> skip_codes;      // exit codes that mean "skipped"
  // workers = "kept": its process may stay for the next job, or leave a copy of itself for that job
  bool keeps_worker = false;
};

// Limits for a whole batch, and notes about things that have no job.
struct BatchLimits {
  // from 0 to 1: if a larger share of the finished jobs has failed, the batch ends
  std::optional<double> max_failure_rate;
  // max_failure_rate has an effect only when this many jobs have finished
  std::int64_t min_finished = 20;
  // lines for people: each names something that has no job, and the reason
  std::vector<std::string> left_out{};
  bool operator==(const BatchLimits&) const = default;
};

struct JobList {
  std::vector<Job> jobs;
  BatchLimits limits;
};

}  // namespace lockstep
