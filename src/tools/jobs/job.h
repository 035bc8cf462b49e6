// One job of a batch: a command and its requirements, from a job file or a command line.
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
inline constexpr int most_slots = 10'000;  // of a batch

// GPUs of one attempt of a job.
struct GpuRequest {
  enum class Kind {
    none,       // gpus = 0
    whole,      // gpus = 1, 2, …; jobs of one kind with gpus = 1 share a device if they fit
    share,      // gpus = 0.25, 0.5, …: a part of one device, at most four jobs on each
    automatic,  // gpus = auto: CPU or GPU, whichever measures faster
  };
  Kind kind = Kind::none;
  int devices = 0;   // for `whole`
  double share = 0;  // for `share`: 0.25 <= share < 1
  bool operator==(const GpuRequest&) const = default;
};

// The memory that a job needs on its GPU.
struct GpuMemoryRequest {
  enum class Kind {
    unknown,  // treated like `measure`
    bytes,
    measure,  // the first job of a kind runs alone and is measured
    all,      // the job gets its device alone
  };
  Kind kind = Kind::unknown;
  std::int64_t bytes = 0;  // for Kind::bytes; per device
  bool operator==(const GpuMemoryRequest&) const = default;
};

struct Job {
  std::int64_t number = 0;  // from 1, in the order of the file: `{#}`
  std::string name;         // unique in the batch, a plain file name
  std::string key;          // 32 hex digits that identify the job by content (see job_key)
  std::string kind;         // equal for all jobs that differ only in their parameters
  std::vector<std::pair<std::string, std::string>> parameters;  // name, value; in the order of the
                                                                // matrix

  // All placeholders are filled in except those of an attempt: {out}, {slot}, {gpu}, {cores},
  // {attempt}.
  std::vector<std::string> command;  // argument list; with `shell`, one text for the shell, sh
  bool shell = false;
  std::vector<std::pair<std::string, std::string>> environment;  // overrides that of the batch
  std::string folder;                                            // working folder, absolute
  std::vector<std::string> outputs;  // must exist for success; relative to {out}, or absolute

  double cpus = 1;
  int whole_cores() const;  // cores for its threads: at least 1
  GpuRequest gpus;
  GpuMemoryRequest gpu_memory;
  int priority = 0;                // higher first
  std::vector<std::string> after;  // keys of jobs that must have succeeded first
  int retries = 0;                 // attempts beyond the first
  double retry_delay_s = 0;
  std::optional<double> timeout_s;  // for one attempt
  std::vector<int> skip_codes;      // exit codes that mean "skipped"
  bool keeps_worker = false;        // its process may leave a copy for the next job
};

// Limits for a whole batch, and notes about jobs that it lacks.
struct BatchLimits {
  std::optional<double> max_failure_rate;  // 0 to 1: the batch ends above it …
  std::int64_t min_finished = 20;          // … once this many jobs have finished
  std::vector<std::string> left_out{};     // for people: what has no job, and why; a line each
  bool operator==(const BatchLimits&) const = default;
};

struct JobList {
  std::vector<Job> jobs;
  BatchLimits limits;
};

}  // namespace lockstep
