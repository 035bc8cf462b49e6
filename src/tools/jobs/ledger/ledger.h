// Stores the state of a batch in one SQLite file: jobs, attempts, and requests from other commands.
//
// If any process is killed at any time, no job is lost, and no job has two attempts at once:
//   - An attempt is recorded before any process of it is started.
//   - The end of an attempt is recorded once it is known. sync() makes the record durable, and a
//     batch reports its own end only after that. After a power loss before sync(), the job runs
//     again.
// A job is listed if the latest job list contains it. docs/reference/batch-ledger.md describes the
// tables.
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
  waiting,    // has not run yet, or runs again
  running,    // has an attempt in progress
  done,       // has succeeded
  skipped,    // ended with one of its skip codes
  failed,     // its attempts are used up
  cancelled,  // will not run, by request or because --search chose another setting
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
  failed,         // by exit code or signal, missing output, wrong device, or a failed start
  timed_out,      // ran longer than its time-out
  out_of_memory,  // the device's memory ran out
  cancelled,      // by request
  // The batch was stopped, or the attempt could not begin for lack of open files, processes or
  // memory. Does not count as a try.
  stopped,
  // its end is unknown, because the supervisor or the machine went down; does not count as a try
  lost,
};
const char* to_string(AttemptOutcome outcome);

// The facts about a job that the scheduler needs to choose the next job. The rest of the job is
// read when it starts.
struct QueuedJob {
  std::int64_t id = 0;
  JobState state = JobState::waiting;
  int priority = 0;
  double cpus = 1;
  GpuRequest gpus;
  double not_before = 0;  // unix seconds; earliest time of a retry
  int tries = 0;          // number of attempts that count
  GpuMemoryRequest gpu_memory;
  std::string kind;  // as Job::kind
};

struct Attempt {
  std::int64_t id = 0, job = 0;
  int number = 0;          // among the attempts of this job, from 1
  std::string supervisor;  // id of its supervisor, whose record shows how it ended
  int slot = 0;
  std::vector<int> cores;
  std::vector<std::string> devices;  // UUIDs
  // the reason why somebody requested its end, as in JobExit::ended_by; empty without a request
  std::string asked;
  // Unix seconds of the first signal that the scheduler sent itself. 0 if it sent no signal.
  // Usually the supervisor sends the signals.
  double signalled = 0;
};

struct AttemptEnd {
  AttemptOutcome outcome = AttemptOutcome::failed;
  std::string reason;             // for people; empty if it succeeded
  int exit_code = 0;              // exit code, or 128 + signal
  int signal = 0;                 // the signal that ended it; 0 if no signal did
  double started = 0, ended = 0;  // unix seconds
  double cpu_s = 0;
  std::int64_t max_rss_bytes = 0;
  bool counts = true;  // whether it counts as a try of the job; never for stopped and lost attempts
  // The next three are for an attempt with devices.
  std::string placement;  // text of a PlaceVerdict (schedule/device_watch.h); empty without devices
  std::int64_t gpu_memory_bytes = 0;  // peak on one device; 0 if its processes were not seen there
  // mean activity of its first device while no other attempt ran there
  std::optional<double> gpu_activity_percent;
  JobResults results{};  // results that the job reported
};

// A request of another command. It applies to one job, or to the whole batch if `job` is 0.
struct Request {
  std::int64_t id = 0;
  std::string what;  // "pause", "unpause", "cancel", "retry", "slots", "stop", "drain" or "add"
  std::int64_t job = 0;
  std::string value;
};

struct AddedJobs {
  std::int64_t added = 0, known = 0;
  // jobs that are no longer listed; waiting jobs among them will not run
  std::int64_t left_out = 0;
  // added jobs that got another name, because an earlier job has their name
  std::int64_t renamed = 0;
  std::string first_renamed;  // the new name of the first renamed job
};

// A limit of work that suffices for any use of a ledger of this size. The time is at most `limit_s`
// seconds.
WorkLimit reading_limit(const std::filesystem::path& file, double limit_s);

class Ledger {
 public:
  // Creates a new file, or opens an existing one of this version. If it throws Error, an existing
  // file is unchanged.
  static Ledger open(const std::filesystem::path& file);
  // Opens the file without changing anything. The file may come from anybody, so reading is
  // limited. The limit follows from the size of the file, and is at most `limit_s` seconds of
  // processor time. Beyond the limit, every call throws Error.
  static Ledger open_to_read(const std::filesystem::path& file, double limit_s = INFINITY);
  static Ledger in_memory();  // a ledger without jobs
  // Creates a file with these jobs, which keep their numbers. Jobs with the keys `held` wait for
  // jobs of other ledgers. Ids of attempts begin at `attempts` + 1. The file is not synced, and is
  // incomplete if the process is killed meanwhile. So use this only for a folder that is not in use
  // yet.
  static void build(const std::filesystem::path& file, const JobList& list, std::int64_t attempts,
                    const std::vector<std::string>& held);

  // Adds jobs and assigns their numbers. A job whose key is known keeps its number, name, state and
  // attempts. Its priority, resources, retries and time-out become those of the list. With
  // `replaces`, jobs that are not in the list are no longer listed. A new job gets another name if
  // an earlier job has its name.
  AddedJobs add(const JobList& list, bool replaces);
  AddedJobs add(const JobSource& source, bool replaces);
  BatchLimits limits();
  std::vector<std::string> left_out();  // as BatchLimits::left_out
  // Returns the command that makes the jobs again from the data. Returns "" if the jobs came from a
  // job file.
  std::string made_by();
  void set_made_by(const std::string& command);

  std::vector<QueuedJob> queue();  // listed jobs, in the order of their numbers
  // Whether a listed job may use a GPU.
  bool wants_gpu();
  // pairs of a job and a job on which it depends
  std::vector<std::pair<std::int64_t, std::int64_t>> dependencies();
  Job job(std::int64_t id);
  // Finds a job by its name in the ledger, or by its number. A job that is no longer listed may
  // have this name in the ledger. If a listed job has the name in its job file, that listed job is
  // returned instead. It is not returned if the names are equal only because characters were
  // replaced, as for "M M" and "M&M".
  std::optional<std::int64_t> find(const std::string& name_or_number);
  std::map<JobState, std::int64_t> counts();  // number of listed jobs in each state
  std::int64_t unsynced();  // number of listed jobs whose end would not survive a power loss yet

  // Records all these attempts in one transaction, before any of them starts. Sets `id` and
  // `number` of each.
  void begin(std::vector<Attempt>& attempts);
  // Records the request to end the attempt, and the time of the first signal. A later scheduler
  // reads both from unfinished(), as long as the attempt has not ended.
  void ask_end(const Attempt& attempt);
  // Records the end of the attempt and the state of its job together. Has no effect if the end of
  // the attempt is already recorded.
  void end(const Attempt& attempt, const AttemptEnd& end, JobState state, double not_before);
  std::vector<JobResult> results(std::int64_t attempt);  // sorted by name
  std::vector<Attempt> unfinished();                     // attempts without an end
  int times_lost(std::int64_t job);
  // id of the previous attempt of the same job; 0 if this attempt is the first
  std::int64_t attempt_before(const Attempt& attempt);
  int tries(std::int64_t job);  // number of attempts that count
  void set_state(std::int64_t job, JobState state, const std::string& reason);
  void forget_tries(std::int64_t job);  // the job waits again and has all of its retries

  // Makes recorded ends of attempts, and all files of the batch's folder, survive a power loss.
  // Does nothing if no attempt has ended since the last call.
  void sync();
  // Call it after the machine went down. Jobs that ended since the last sync() wait again, except
  // cancelled ones. Returns the number of these jobs.
  std::int64_t forget_unsynced();

  void request(const std::string& what, std::int64_t job, const std::string& value);
  std::vector<Request> take_requests();
  // whether another connection has written since the last call; a cheap call
  bool changed_by_others();

  // Records that no job of the batch ran on a device from `begin` to `end` (unix seconds). why: the
  // scheduler's reason.
  void idle(const std::string& device, double begin, double end, const std::string& why);
  // Records a decision of the batch, as a text for people.
  void note(const std::string& text);

  // Records that the batch is paused from now on, or is no longer paused.
  void set_paused(bool paused);
  bool is_paused();
  // Returns the begin and end of each pause in unix seconds, sorted. A pause that has not ended has
  // an infinite end.
  std::vector<std::pair<double, double>> pauses();

  std::string fact(const std::string& key);  // "" if no value is stored for the key
  void set_fact(const std::string& key, const std::string& value);
  Database& database() { return *database_; }  // use it only for reading
  // Drop and create the indexes of jobs and attempts. Inserting many rows is faster without these
  // indexes.
  void drop_indexes();
  void create_indexes();

 private:
  explicit Ledger(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  void create_tables(const std::filesystem::path& file);
  // throws Error if the file is a database but not a ledger
  bool is_new(const std::filesystem::path& file);
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
