// Runs the jobs of a batch: decides which job starts next and where, and acts on how it ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/graph/attempt_groups.h"
#include "tools/jobs/graph/job_graph.h"
#include "tools/jobs/graph/job_queue.h"
#include "tools/jobs/ledger/ledger.h"
#include "tools/jobs/process/supervisor.h"
#include "tools/jobs/schedule/device_watch.h"
#include "tools/jobs/schedule/lease.h"
#include "tools/jobs/schedule/packing.h"
#include "tools/jobs/schedule/placement.h"
#include "tools/jobs/schedule/settle.h"
#include "tools/jobs/search/setting_trial.h"

namespace lockstep {

struct SchedulerSetup {
  BatchFolder folder;
  BatchResources resources;
  std::vector<std::string> supervisor_program;  // argument list
  std::uint64_t log_limit_bytes = 64u << 20;    // limit for the log of each attempt; 0: no limit
  double grace_s = 10;                          // time from SIGTERM to SIGKILL
  std::filesystem::path lease_folder;           // folder for DeviceLeases
  // A function that returns the name of another user of the device, or "" if no one else uses it.
  // The argument is the device's index. The function is called only while no job of this batch is
  // on the device.
  std::function<std::string(int)> used_by;
  // observes jobs on their devices; may be null
  std::unique_ptr<DeviceWatch> watch;
  // The kind of jobs for which --search looks for the best setting. These jobs run in the setting
  // of use(). Measurements do not decide how many of them share a device. Empty without a search.
  std::string searched_kind;
};

// A running attempt.
struct RunningAttempt {
  Attempt attempt;
  Job job;
  QueuedJob queued;
  Placement placement;
  pid_t pid = 0;            // 0 while the process is unknown
  double begun_s = 0;       // time of its start on the monotonic clock
  bool adopted = false;     // started by an earlier scheduler's supervisor
  int setting = 0;          // how often Scheduler::use() was called before the attempt began
  int others_at_begin = 0;  // how many other attempts ran when the attempt began
  // When an adopted attempt whose end was requested gets the next signal, on the monotonic clock.
  double kill_at_s = 0;

  // The next four are for an attempt with devices.
  AttemptSight sight;
  // the largest number of jobs of the batch on its device, this job included
  int most_together = 1;
  int limit = 1;  // value of Packing::per_device() when it began
  // sum of the running times of all jobs on its first device when it began
  double job_s_at_begin = 0;
  // the side on which it is a trial for a kind with gpus = auto (packing.h)
  CpuOrGpu::Choice trial = CpuOrGpu::Choice::unknown;
};

// Numbers of listed jobs, which are the jobs of the latest job list. They are shown while a batch
// runs.
struct BatchCounts {
  std::int64_t total = 0, done = 0, failed = 0, skipped = 0, cancelled = 0, running = 0;
  // jobs that cannot run, because they depend on a job that did not succeed
  std::int64_t blocked = 0;
  std::int64_t left() const { return total - done - failed - skipped - cancelled - blocked; }
};

// Whether the attempt ran out of device memory, or was killed (SIGKILL) without a request. The
// kernel kills a process this way when the host runs out of memory.
bool ran_out_of_memory(const RunningAttempt& running, const AttemptEnd& end);

class Scheduler {
 public:
  using Ended = std::function<void(const RunningAttempt&, const Settled&)>;

  // The caller must hold the batch's lock. Adopts attempts that an earlier scheduler left running.
  // If an attempt cannot be adopted, its processes are ended, and its job waits again. Throws Error
  // if the ledger or the batch's folder cannot be written. Also throws Error if an earlier
  // supervisor does not answer, or if processes of an attempt cannot be ended.
  Scheduler(Ledger& ledger, SchedulerSetup setup);
  ~Scheduler();

  void on_end(Ended ended) { on_end_ = std::move(ended); }
  // Sets a function that is called for each job that will not run unless a job is retried. The job
  // depends on an unsuccessful job, or was cancelled before it began. Jobs that already depend on
  // an unsuccessful job are reported at once.
  void on_never(std::function<void(std::int64_t)> never);
  // Sets a function that gets texts for people about decisions of the batch. The ledger has these
  // texts too.
  void on_note(std::function<void(const std::string&)> note) { on_note_ = std::move(note); }

  // Runs the scheduler once. Waits at most `wait_s` for an event, or until `wake_fd` is readable.
  // Returns false once nothing runs and nothing more will run. Throws Error if the ledger cannot be
  // written.
  bool turn(double wait_s, int wake_fd);

  void drain();  // starts no more jobs; running jobs may finish
  void stop();   // starts no more jobs and ends running jobs, which wait again
  bool draining() const { return draining_; }
  bool paused() const { return paused_; }
  // set if the batch ends because of max_failure_rate
  const std::string& why_ending() const { return why_ending_; }

  const BatchCounts& counts() const { return counts_; }
  std::vector<const RunningAttempt*> running() const;
  const Resources& resources() const { return resources_; }
  const DeviceWatch* watch() const { return setup_.watch.get(); }  // may be null
  // From now on, jobs of the searched kind begin in this setting, which gives their cores and the
  // number of concurrent jobs. Running jobs continue. A later request for slots changes the number
  // of concurrent jobs again. `setting.combination` has no effect here; hold() chooses the
  // combination.
  void use(const JobSetting& setting);
  int settings_used() const { return settings_used_; }  // number of calls of use()
  // These jobs do not begin until a later call omits them. While some jobs are held, turn() does
  // not return false, unless the batch drains.
  void hold(std::set<std::int64_t> jobs);
  // Cancels all of these jobs that wait. why: the reason, for people.
  void cancel_waiting(const std::set<std::int64_t>& jobs, const std::string& why);
  bool waits(std::int64_t job) const;  // whether the job is listed, does not run and is not over
  bool is_idle() const { return running_.empty() && queue_.empty(); }
  // How many jobs of the searched kind fit into a device's memory. Returns 1 until their memory is
  // measured.
  int fit_per_device();
  // The devices for which the batch waits because others use them. Maps a device's index to the
  // name of the other user.
  const std::map<int, std::string>& waits_for() const { return waits_for_; }
  std::int64_t adopted() const { return adopted_; }
  std::int64_t cut_short() const { return lost_; }  // number of attempts that were lost so far

 private:
  void load_jobs();
  void set_state(std::int64_t id, JobState state);
  void follow(const std::vector<JobGraph::Change>& changes);
  void enqueue(std::int64_t id);
  void adopt_or_forget();
  void forget(const Attempt& attempt, const std::string& why);
  void end_marked(const std::string& mark) const;
  std::string mark_of(std::int64_t attempt) const;
  void end_attempt_of(const Attempt& attempt) const;

  struct Start {
    RunningAttempt running;
    std::vector<UniqueFd> leases;
  };
  void start_what_fits();
  std::vector<Start> begin_what_fits();
  void order(std::vector<Start> starting);
  Lacks start_one(std::int64_t id, std::vector<Start>& starting);
  std::optional<Placement> place(const QueuedJob& job, std::vector<UniqueFd>& leases);
  std::string lease(const Placement& placement, bool packed, std::vector<UniqueFd>& leases,
                    int& device);
  bool lease_packed(int device, std::vector<UniqueFd>& leases);

  // The functions that decide which jobs share devices are in scheduler_devices.cpp.
  struct Kind {
    Packing packing;
    CpuOrGpu choice;
  };
  struct Occupancy {  // the jobs on one device
    int jobs = 0, packed = 0;
    double job_s = 0, until_s = 0;  // sum of the running times of its jobs until `until_s`
    std::vector<UniqueFd> leases;   // leases that all packed jobs on the device share
    double idle_since = 0;          // unix time; 0 while a job is on the device
    std::string idle_why;
  };
  bool is_searched(const QueuedJob& job) const;
  bool is_packed(const QueuedJob& job) const;
  int per_device(const QueuedJob& job);
  Kind& kind_of(const QueuedJob& job);
  GpuRequest request_of(const QueuedJob& job, CpuOrGpu::Choice& trial);
  bool wants_devices(std::int64_t job);
  std::string never(const QueuedJob& job) const;
  void enter(RunningAttempt& running);
  void count_together(int device);
  // Releases the resources of an attempt. Returns the mean number of jobs on the attempt's device
  // while the attempt ran. duration_s: the duration of the attempt. If it is 0 (unknown), 1 is
  // returned.
  double vacate(RunningAttempt& running, double duration_s = 0);
  void look_at_devices();
  void look_at_idle_devices(bool at_end);
  std::string why_idle(int device);
  void learn(const RunningAttempt& running, Settled& settled, double together);
  void learn_searched(const RunningAttempt& running, Settled& settled);
  void begin_again(const RunningAttempt& running, Settled& settled);
  void limit_changed(const std::string& kind);
  void keep(const std::string& kind);
  OnDevices seen(const RunningAttempt& running) const;
  void note(const std::string& text);
  JobOrder order_of(const RunningAttempt& running) const;

  void take_exits();
  void take_adopted();
  void supervisor_is_gone();
  void finish(const std::vector<JobExit>& exits);
  void limit_by_open_files();
  bool waits_for_more(const RunningAttempt& running, const std::string& problem);
  void may_have_more();
  void apply(RunningAttempt running, const Settled& settled);
  void count(JobState state, std::int64_t by);
  void look_at_failures();

  void take_requests();
  void obey(const Request& request);
  void cancel(std::int64_t job);
  void end_attempt(RunningAttempt& running, const char* why);
  void signal_adopted(RunningAttempt& running);
  void retry(std::int64_t job);
  void sync_sometimes();

  Clock& clock_ = system_clock();
  Ledger& ledger_;
  SchedulerSetup setup_;
  Resources resources_;
  BatchLimits limits_;
  std::string batch_id_, supervisor_id_;
  std::optional<AttemptGroups> groups_;
  std::unique_ptr<SupervisorLink> link_;
  std::unordered_map<std::int64_t, QueuedJob> listed_;
  JobGraph graph_;  // dependencies of the listed jobs
  JobQueue queue_;
  std::map<std::int64_t, RunningAttempt> running_;  // by the attempt's id
  BatchCounts counts_;
  std::int64_t adopted_ = 0, lost_ = 0;
  bool draining_ = false, stopping_ = false, paused_ = false, has_turned_ = false;
  int most_by_files_ = std::numeric_limits<int>::max();  // limit for concurrent jobs
  int most_by_shortage_ = std::numeric_limits<int>::max();
  // Number of attempts that could not start while nothing else ran. The number is reset when a job
  // has begun.
  int tries_alone_ = 0;
  // no job begins before this time, because an attempt lacked open files, processes or memory
  double short_until_s_ = 0;
  std::string why_ending_;
  bool same_boot_ = true;  // the machine was not restarted since the previous scheduler
  double synced_s_ = 0, requests_s_ = 0, asked_busy_s_ = 0;
  std::optional<DeviceLeases> leases_;
  std::map<int, std::string> waits_for_;
  Ended on_end_;
  std::function<void(std::int64_t)> on_never_;
  std::function<void(const std::string&)> on_note_;
  std::map<std::string, Kind> kinds_;
  std::vector<Occupancy> occupancy_;  // by the device's index
  std::set<std::int64_t> alone_;      // jobs that ran out of memory on a shared device
  // Jobs with one failure that was not counted. The failure was a failed trial on a CPU or GPU, or
  // a kill during a search.
  std::set<std::int64_t> forgiven_;
  std::optional<JobSetting> setting_;
  int settings_used_ = 0;
  std::set<std::int64_t> held_;
};

}  // namespace lockstep
