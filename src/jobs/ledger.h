// What a batch knows, in one SQLite file: jobs, attempts, and requests of other commands.
//
// Contract: whatever is killed, and whenever, no job is lost and no job has two attempts at once.
//   - An attempt is written down before anything of it is started.
//   - What ended is written down as it is known; `sync` makes it durable, and only then is it
//     reported. A power loss before that runs the job again.
// Table layout: docs/reference/batch-ledger.md.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/database.h"
#include "jobs/job.h"
#include "jobs/job_results.h"
#include "jobs/job_source.h"

namespace lockstep {

enum class JobState {
  waiting,    // to be run
  running,    // has an attempt that is not over
  done,       // succeeded
  skipped,    // ended with one of its skip codes
  failed,     // its attempts are used up
  cancelled,  // by request
};
inline bool succeeded(JobState state) { return state == JobState::done; }
inline bool over(JobState state) {
  return state != JobState::waiting && state != JobState::running;
}
const char* to_string(JobState state);

// How an attempt ended.
enum class AttemptOutcome {
  done,
  skipped,
  failed,         // exit code, signal, missing output, or could not be started
  timed_out,      // ran longer than it may
  out_of_memory,  // of the device or the host
  cancelled,      // by request
  stopped,        // the batch was stopped; does not count as a try
  lost,           // its supervisor or the machine went down; does not count as a try
};
const char* to_string(AttemptOutcome outcome);

// What the scheduler needs of a job to choose it; the rest is read when it starts.
struct QueuedJob {
  std::int64_t id = 0;
  JobState state = JobState::waiting;
  int priority = 0;
  double cpus = 1;
  GpuRequest gpus;
  double not_before = 0;  // unix seconds: a retry's delay
  int tries = 0;          // attempts that count
  GpuMemoryRequest gpu_memory;
  std::string kind;  // as in Job
};

struct Attempt {
  std::int64_t id = 0, job = 0;
  int number = 0;          // of this job, from 1
  std::string supervisor;  // whose record says how it ended
  int slot = 0;
  std::vector<int> cores;
  std::vector<std::string> devices;  // UUIDs
  std::string asked;     // why its end was asked for (JobExit::ended_by); "": nobody did
  double signalled = 0;  // unix seconds, first, not by its supervisor; 0: only that was told
};

struct AttemptEnd {
  AttemptOutcome outcome = AttemptOutcome::failed;
  std::string reason;             // for people; empty for success
  int exit_code = 0;              // 128 + signal
  int signal = 0;                 // that ended it; 0: none
  double started = 0, ended = 0;  // unix seconds
  double cpu_s = 0;
  std::int64_t max_rss_bytes = 0;
  bool counts = true;  // among the job's tries; those that were stopped or lost never do
  // Of one with devices:
  std::string placement;                       // a PlaceVerdict; "" without devices
  std::int64_t gpu_memory_bytes = 0;           // peak on one device; 0: not seen
  std::optional<double> gpu_activity_percent;  // mean while it was alone there
  JobResults results{};                        // what it said of itself
};

// What another command asks of the batch, or of one job where `job` is not 0.
struct Request {
  std::int64_t id = 0;
  std::string what;  // "pause", "unpause", "cancel", "retry", "slots", "stop"
  std::int64_t job = 0;
  std::string value;
};

struct AddedJobs {
  std::int64_t added = 0, known = 0;
  std::int64_t left_out = 0;  // waited, and are no longer listed: they will not run
};

// Generous for whatever is asked of a ledger of this size, and at most limit_s.
WorkLimit reading_limit(const std::filesystem::path& file, double limit_s);

class Ledger {
 public:
  // A new file, or an existing one of this version. Throws Error; then nothing of it was changed.
  static Ledger open(const std::filesystem::path& file);
  // Changes nothing. The file may be anybody's: what reading it may take is limited, by its size
  // and to `limit_s` seconds of the processor; beyond that whatever is asked throws Error.
  static Ledger open_to_read(const std::filesystem::path& file, double limit_s = INFINITY);
  static Ledger in_memory();  // empty
  // A new file with these jobs under their own numbers, those with the keys `held` waiting for jobs
  // of other ledgers; attempts count from `attempts` + 1. Neither synced nor safe from kills: for a
  // folder that is not in use yet.
  static void build(const std::filesystem::path& file, const JobList& list, std::int64_t attempts,
                    const std::vector<std::string>& held);

  // Jobs known by their key stay as they are, but for priority, resources and retries. With
  // `replaces`, jobs that are not in the list are no longer listed. Gives jobs their numbers, and
  // those whose name an earlier one has another.
  AddedJobs add(const JobList& list, bool replaces);
  AddedJobs add(const JobSource& source, bool replaces);
  BatchLimits limits();

  std::vector<QueuedJob> queue();                                     // listed jobs, by number
  bool wants_gpu();                                                   // one of them
  std::vector<std::pair<std::int64_t, std::int64_t>> dependencies();  // job, the job it needs
  Job job(std::int64_t id);
  std::optional<std::int64_t> find(const std::string& name_or_number);
  std::map<JobState, std::int64_t> counts();  // of listed jobs
  std::int64_t unsynced();  // listed jobs whose end would not survive a power loss yet

  // All in one transaction, before any of them is started. Fills in id and number.
  void begin(std::vector<Attempt>& attempts);
  // Remembered until it has ended, also by a scheduler that comes later.
  void ask_end(const Attempt& attempt);
  // Of both at once. Nothing if the attempt's end was known.
  void end(const Attempt& attempt, const AttemptEnd& end, JobState state, double not_before);
  std::vector<JobResult> results(std::int64_t attempt);  // by name
  std::vector<Attempt> unfinished();                     // attempts without an end
  int times_lost(std::int64_t job);
  std::int64_t attempt_before(const Attempt& attempt);  // of the same job; 0: none
  int tries(std::int64_t job);                          // attempts that count
  void set_state(std::int64_t job, JobState state, const std::string& reason);
  void forget_tries(std::int64_t job);  // it waits, with all of its retries

  // Everything written until now, and all files of the batch's folder, survive a power loss.
  void sync();
  // After the machine went down: jobs that ended since the last `sync` run again. How many.
  std::int64_t forget_unsynced();

  void request(const std::string& what, std::int64_t job, const std::string& value);
  std::vector<Request> take_requests();
  bool changed_by_others();  // cheap

  // A device on which no job of the batch ran, from when to when (unix seconds), and why.
  void idle(const std::string& device, double begin, double end, const std::string& why);
  // What the batch decided by itself, for people.
  void note(const std::string& text);

  std::string fact(const std::string& key);  // "" where there is none
  void set_fact(const std::string& key, const std::string& value);
  Database& database() { return *database_; }  // for reading
  // Many rows are put in faster without the indexes of jobs and attempts.
  void drop_indexes();
  void create_indexes();

 private:
  explicit Ledger(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  void create_tables(const std::filesystem::path& file);
  bool is_new(const std::filesystem::path& file);  // throws Error if it is somebody else's
  void set_limits(const BatchLimits& limits);
  void put_result(std::int64_t attempt, const JobResult& result);
  struct Jobs {
    std::size_t count;
    std::function<void(const JobSource::Visit&)> each;
    BatchLimits limits;
  };
  AddedJobs add(const Jobs& jobs, bool replaces);
  AddedJobs add_first(const Jobs& jobs);
  AddedJobs add_more(const Jobs& jobs, bool replaces);
  void insert(const Job& job, std::int64_t number, const std::string& name);

  std::unique_ptr<Database> database_;
  std::int64_t data_version_ = -1;
  bool unsynced_ = false, local_ = true;
};

}  // namespace lockstep
