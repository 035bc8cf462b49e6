// The state of a batch in one SQLite file: jobs, attempts, and requests from other commands.
//
// Contract: no matter what is killed and when, no job is lost and no job has two attempts at once.
//   - An attempt is recorded before any part of it is started.
//   - An end is recorded once it is known. `sync` makes it durable, and only then is it reported. A
//     power loss before that makes the job run again.
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

#include "tools/jobs/job.h"
#include "tools/jobs/job_file/job_source.h"
#include "tools/jobs/job_results.h"
#include "tools/jobs/ledger/database.h"

namespace lockstep {

enum class JobState {
  waiting,    // to be run
  running,    // has an attempt in progress
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

// The facts about a job by which the scheduler chooses it. The rest is read when the job starts.
struct QueuedJob {
  std::int64_t id = 0;
  JobState state = JobState::waiting;
  int priority = 0;
  double cpus = 1;
  GpuRequest gpus;
  double not_before = 0;  // unix seconds: delay of a retry
  int tries = 0;          // attempts that count
  GpuMemoryRequest gpu_memory;
  std::string kind;  // as in Job
};

struct Attempt {
  std::int64_t id = 0, job = 0;
  int number = 0;          // of this job, from 1
  std::string supervisor;  // its record shows how the attempt ended
  int slot = 0;
  std::vector<int> cores;
  std::vector<std::string> devices;  // UUIDs
  std::string asked;     // reason of the request to end it (JobExit::ended_by); "": none
  double signalled = 0;  // unix seconds of the first signal that its supervisor did not send; 0:
                         // only the supervisor was told
};

struct AttemptEnd {
  AttemptOutcome outcome = AttemptOutcome::failed;
  std::string reason;             // for people; empty for success
  int exit_code = 0;              // or 128 + signal
  int signal = 0;                 // the signal that ended it; 0: none
  double started = 0, ended = 0;  // unix seconds
  double cpu_s = 0;
  std::int64_t max_rss_bytes = 0;
  bool counts = true;  // whether it is among the job's tries; stopped or lost attempts never are
  // For an attempt with devices:
  std::string placement;                       // a PlaceVerdict; "" without devices
  std::int64_t gpu_memory_bytes = 0;           // peak on one device; 0: not seen
  std::optional<double> gpu_activity_percent;  // mean while it was alone there
  JobResults results{};                        // reported by the job
};

// A request of another command to the batch, or to one job if `job` is not 0.
struct Request {
  std::int64_t id = 0;
  std::string what;  // "pause", "unpause", "cancel", "retry", "slots", "stop"
  std::int64_t job = 0;
  std::string value;
};

struct AddedJobs {
  std::int64_t added = 0, known = 0;
  std::int64_t left_out = 0;  // waiting jobs that are no longer listed: they will not run
  std::int64_t renamed = 0;   // added jobs whose names earlier jobs already have
  std::string first_renamed;  // the new name of the first of these
};

// A limit that suffices for any use of a ledger of this size, but at most limit_s.
WorkLimit reading_limit(const std::filesystem::path& file, double limit_s);

class Ledger {
 public:
  // Creates a new file, or opens an existing one of this version. Throws Error, and then has
  // changed nothing.
  static Ledger open(const std::filesystem::path& file);
  // Opens without changing anything. The file may come from anybody, so reading is limited by its
  // size and to `limit_s` seconds of processor time. Beyond that, every call throws Error.
  static Ledger open_to_read(const std::filesystem::path& file, double limit_s = INFINITY);
  static Ledger in_memory();  // empty
  // Creates a file with these jobs under their own numbers. Jobs with the keys `held` wait for jobs
  // of other ledgers. Attempts count from `attempts` + 1. The file is neither synced nor safe from
  // kills, so use this only for a folder that is not in use yet.
  static void build(const std::filesystem::path& file, const JobList& list, std::int64_t attempts,
                    const std::vector<std::string>& held);

  // Adds jobs. Jobs whose key is known keep everything except priority, resources and retries. With
  // `replaces`, jobs that are not in the list are no longer listed. Assigns numbers. Assigns
  // another name to a job if an earlier one has its name.
  AddedJobs add(const JobList& list, bool replaces);
  AddedJobs add(const JobSource& source, bool replaces);
  BatchLimits limits();
  std::vector<std::string> left_out();  // as in BatchLimits
  // The command that makes the jobs anew from the data; "" if they came from a job file.
  std::string made_by();
  void set_made_by(const std::string& command);

  std::vector<QueuedJob> queue();  // listed jobs, by number
  // whether one of them wants a GPU
  bool wants_gpu();
  std::vector<std::pair<std::int64_t, std::int64_t>> dependencies();  // job, the job it needs
  Job job(std::int64_t id);
  // Finds a job by its name in the ledger, or by its number. If the job with that name is no longer
  // listed, the listed job that has the same name in its job file is found instead. That is not so
  // if their values only look the same in a name, such as "M M" and "M&M".
  std::optional<std::int64_t> find(const std::string& name_or_number);
  std::map<JobState, std::int64_t> counts();  // of listed jobs
  std::int64_t unsynced();  // listed jobs whose end would not survive a power loss yet

  // Records all these attempts in one transaction, before any of them starts. Sets id and number.
  void begin(std::vector<Attempt>& attempts);
  // Records the request to end the attempt. It stays until the attempt has ended, also for a later
  // scheduler.
  void ask_end(const Attempt& attempt);
  // Records the end of the attempt and the state of its job together. Has no effect if the
  // attempt's end is already recorded.
  void end(const Attempt& attempt, const AttemptEnd& end, JobState state, double not_before);
  std::vector<JobResult> results(std::int64_t attempt);  // by name
  std::vector<Attempt> unfinished();                     // attempts without an end
  int times_lost(std::int64_t job);
  std::int64_t attempt_before(const Attempt& attempt);  // the previous attempt of the same job; 0:
                                                        // none
  int tries(std::int64_t job);                          // attempts that count
  void set_state(std::int64_t job, JobState state, const std::string& reason);
  void forget_tries(std::int64_t job);  // the job waits again, with all of its retries

  // Makes everything written so far, and all files of the batch's folder, survive a power loss.
  void sync();
  // Call it after the machine went down. Jobs that ended since the last `sync` wait again. Returns
  // their number.
  std::int64_t forget_unsynced();

  void request(const std::string& what, std::int64_t job, const std::string& value);
  std::vector<Request> take_requests();
  bool changed_by_others();  // cheap

  // Records that no job of the batch ran on a device from begin to end (unix seconds), and why.
  void idle(const std::string& device, double begin, double end, const std::string& why);
  // Records a decision of the batch itself, for people.
  void note(const std::string& text);

  // Records that the batch is paused from now on, or no longer.
  void set_paused(bool paused);
  bool is_paused();
  // Begin and end of each pause in unix seconds, sorted; the end of the present one is infinite.
  std::vector<std::pair<double, double>> pauses();

  std::string fact(const std::string& key);  // "" if there is none
  void set_fact(const std::string& key, const std::string& value);
  Database& database() { return *database_; }  // for reading
  // Inserting many rows is faster without the indexes of jobs and attempts.
  void drop_indexes();
  void create_indexes();

 private:
  explicit Ledger(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  void create_tables(const std::filesystem::path& file);
  bool is_new(const std::filesystem::path& file);  // throws Error if the file is somebody else's
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
  std::optional<std::int64_t> find_renamed(const std::string& name, std::int64_t replaced);
  void insert(const Job& job, std::int64_t number, const std::string& name);

  std::unique_ptr<Database> database_;
  std::int64_t data_version_ = -1;
  bool unsynced_ = false, local_ = true;
};

}  // namespace lockstep
