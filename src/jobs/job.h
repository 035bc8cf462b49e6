// One job of a batch: a command with what it needs, as a job file or a command line gave it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// The most that can be asked for, whoever asks.
inline constexpr double most_cpus = 65536;
inline constexpr int most_gpus_of_a_job = 1024;
inline constexpr int most_priority = 1'000'000;  // and the least is as far below 0
inline constexpr int most_retries = 1000;
inline constexpr int most_slots = 10'000;  // of a batch

// GPUs of one attempt of a job.
struct GpuRequest {
  enum class Kind {
    none,       // gpus = 0
    whole,      // gpus = 1, 2, …; those with 1 share it with others of their kind that fit
    share,      // gpus = 0.25, 0.5, …: a part of one device, at most four on each
    automatic,  // gpus = auto: CPU or GPU, whichever is measured to be faster
  };
  Kind kind = Kind::none;
  int devices = 0;   // of `whole`
  double share = 0;  // of `share`: 0.25 <= share < 1
  bool operator==(const GpuRequest&) const = default;
};

// Memory on its GPU that a job will need.
struct GpuMemoryRequest {
  enum class Kind {
    unknown,  // as `measure`
    bytes,
    measure,  // the first job of a kind runs alone and is measured
    all,      // the job is to be alone on its device
  };
  Kind kind = Kind::unknown;
  std::int64_t bytes = 0;  // of Kind::bytes; per device
  bool operator==(const GpuMemoryRequest&) const = default;
};

struct Job {
  std::int64_t number = 0;  // from 1, in the order of the file: `{#}`
  std::string name;         // unique in the batch, a plain file name
  std::string key;          // 32 hex digits: what the job is, by content (see job_key)
  std::string kind;         // the same for all that differ in their parameters alone
  std::vector<std::pair<std::string, std::string>> parameters;  // name, value; in the matrix' order

  // All placeholders are filled in but those of an attempt: {out}, {slot}, {gpu}, {cores},
  // {attempt}.
  std::vector<std::string> command;  // argument list; with `shell`, one text for the shell, sh
  bool shell = false;
  std::vector<std::pair<std::string, std::string>> environment;  // set over that of the batch
  std::string folder;                                            // working folder, absolute
  std::vector<std::string> outputs;  // must exist for success; relative to {out} or absolute

  double cpus = 1;
  int whole_cores() const;  // for its threads: at least 1
  GpuRequest gpus;
  GpuMemoryRequest gpu_memory;
  int priority = 0;                // higher first
  std::vector<std::string> after;  // keys of jobs that must have succeeded before
  int retries = 0;                 // attempts beyond the first
  double retry_delay_s = 0;
  std::optional<double> timeout_s;  // of one attempt
  std::vector<int> skip_codes;      // exit codes that mean "skipped"
  bool keeps_worker = false;        // its process may leave a copy for the next job
};

// What is said of a whole batch.
struct BatchLimits {
  std::optional<double> max_failure_rate;  // 0 to 1: the batch ends above it …
  std::int64_t min_finished = 20;          // … once so many jobs have finished
};

struct JobList {
  std::vector<Job> jobs;
  BatchLimits limits;
};

}  // namespace lockstep
