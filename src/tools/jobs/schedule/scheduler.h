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
  std::uint64_t log_limit_bytes = 64u << 20;    // for each attempt; 0: none
  double grace_s = 10;                          // from SIGTERM to SIGKILL
  std::filesystem::path lease_folder;           // where devices are leased
  // Names the other user of a device, given by its index; "" if there is none. Called while no job
  // of this batch is on the device.
  std::function<std::string(int)> used_by;
  // observes jobs on their devices; null: nobody does
  std::unique_ptr<DeviceWatch> watch;
  // Jobs of this kind run as use() says, and are not packed by measurement. "": all are measured.
  std::string searched_kind;
};

// A running attempt.
struct RunningAttempt {
  Attempt attempt;
  Job job;
  QueuedJob queued;
  Placement placement;
  pid_t pid = 0;            // 0: unknown so far
  double begun_s = 0;       // monotonic
  bool adopted = false;     // from an earlier scheduler's supervisor
  int setting = 0;          // number of calls of Scheduler::use() before it began
  int others_at_begin = 0;  // number of other attempts that ran when it began
  double kill_at_s = 0;     // monotonic; for an adopted attempt whose end was requested

  // For an attempt with devices:
  AttemptSight sight;
  int most_together = 1;      // the most concurrent jobs of the batch on its device, itself
                              // included
  int limit = 1;              // Packing::per_device() when it began
  double job_s_at_begin = 0;  // job-seconds of its first device at that time
  CpuOrGpu::Choice trial = CpuOrGpu::Choice::unknown;  // for a kind with gpus = auto
};

// Numbers shown while a batch runs, over listed jobs.
struct BatchCounts {
  std::int64_t total = 0, done = 0, failed = 0, skipped = 0, cancelled = 0, running = 0;
  std::int64_t blocked = 0;  // need a job that did not succeed
  std::int64_t left() const { return total - done - failed - skipped - cancelled - blocked; }
};

// Whether the attempt ran out of device memory, or was killed, as the kernel does when the host
// runs out.
bool ran_out_of_memory(const RunningAttempt& running, const AttemptEnd& end);

class Scheduler {
 public:
  using Ended = std::function<void(const RunningAttempt&, const Settled&)>;

  // The caller must hold the batch's lock. Adopts attempts that an earlier scheduler left running;
  // attempts that cannot be adopted are ended and wait again. Throws Error.
  Scheduler(Ledger& ledger, SchedulerSetup setup);
  ~Scheduler();

  void on_end(Ended ended) { on_end_ = std::move(ended); }
  // never: called for each job that will not run unless another one is retried. Such a job needs an
  // unsuccessful job, or was cancelled before it began. Jobs already known to be such are reported
  // at once.
  void on_never(std::function<void(std::int64_t)> never);
  // Decisions of the batch itself, for people; they are in the ledger too.
  void on_note(std::function<void(const std::string&)> note) { on_note_ = std::move(note); }

  // Makes one turn: waits at most `wait_s` for an event, or until `wake_fd` is readable. Returns
  // false once nothing runs and nothing more will run. Throws Error if the ledger cannot be
  // written.
  bool turn(double wait_s, int wake_fd);

  void drain();  // starts nothing more; running jobs may finish
  void stop();   // the same, and ends running jobs, which wait again
  bool draining() const { return draining_; }
  bool paused() const { return paused_; }
  const std::string& why_ending() const { return why_ending_; }  // because of max_failure_rate

  const BatchCounts& counts() const { return counts_; }
  std::vector<const RunningAttempt*> running() const;
  const Resources& resources() const { return resources_; }
  const DeviceWatch* watch() const { return setup_.watch.get(); }  // null if there is none
  // From now on, jobs of the searched kind begin in this setting, whatever their combination, until
  // other slots are requested. Running jobs continue.
  void use(const JobSetting& setting);
  int settings_used() const { return settings_used_; }  // calls of use()
  // These jobs do not begin until a later call omits them. While some are held, turn() does not
  // end.
  void hold(std::set<std::int64_t> jobs);
  // Cancels for good those of these jobs that are waiting.
  void cancel_waiting(const std::set<std::int64_t>& jobs, const std::string& why);
  bool waits(std::int64_t job) const;  // it is listed, and has no attempt and no end
  bool is_idle() const { return running_.empty() && queue_.empty(); }
  // The number of jobs that fit into a device's memory, as far as measured for the searched kind.
  int fit_per_device();
  // Devices (by index) for which the batch waits because others use them, and those users.
  const std::map<int, std::string>& waits_for() const { return waits_for_; }
  std::int64_t adopted() const { return adopted_; }
  std::int64_t cut_short() const { return lost_; }  // attempts lost before this start

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

  // Sharing devices by measurement: scheduler_devices.cpp.
  struct Kind {
    Packing packing;
    CpuOrGpu choice;
  };
  struct Occupancy {  // state of a device
    int jobs = 0, packed = 0;
    double job_s = 0, until_s = 0;  // job-seconds until that time
    std::vector<UniqueFd> leases;   // shared by all packed jobs on it
    double idle_since = 0;          // unix time; 0: a job is on it
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
  // Releases the resources of an attempt. Returns the mean number of jobs on its device while it
  // ran there.
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
  JobGraph graph_;  // dependencies of these jobs
  JobQueue queue_;
  std::map<std::int64_t, RunningAttempt> running_;  // by attempt
  BatchCounts counts_;
  std::int64_t adopted_ = 0, lost_ = 0;
  bool draining_ = false, stopping_ = false, paused_ = false, has_turned_ = false;
  int most_by_files_ = std::numeric_limits<int>::max();  // the most concurrent jobs
  int most_by_shortage_ = std::numeric_limits<int>::max();
  int tries_alone_ = 0;       // failed starts with nothing else running, since a job last began
  double short_until_s_ = 0;  // nothing begins before this time
  std::string why_ending_;
  bool same_boot_ = true;  // the same boot as the previous scheduler's
  double synced_s_ = 0, requests_s_ = 0, asked_busy_s_ = 0;
  std::optional<DeviceLeases> leases_;
  std::map<int, std::string> waits_for_;
  Ended on_end_;
  std::function<void(std::int64_t)> on_never_;
  std::function<void(const std::string&)> on_note_;
  std::map<std::string, Kind> kinds_;
  std::vector<Occupancy> occupancy_;  // by device
  std::set<std::int64_t> alone_;      // jobs that ran out of memory on a shared device
  // Jobs whose trial failed where their kind may not run, or that were killed in a search.
  std::set<std::int64_t> forgiven_;
  std::optional<JobSetting> setting_;
  int settings_used_ = 0;
  std::set<std::int64_t> held_;
};

}  // namespace lockstep
