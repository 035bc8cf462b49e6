// Runs one attempt in a supervisor: a process with all its descendants, its log and its deadline.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/files/fd.h"
#include "runtime/launch/ranks/rank_log.h"
#include "tools/jobs/process/kept_worker.h"

namespace lockstep {

struct JobOrder {
  std::int64_t attempt = 0;
  std::string mark;                  // value of LOCKSTEP_ATTEMPT
  std::vector<std::string> command;  // argument list
  // texts "NAME=value", which override the supervisor's own variables
  std::vector<std::string> environment;
  std::string folder;  // working folder
  std::string out;     // the attempt's own folder, created before it starts
  // the folder exists from the previous attempt, and this attempt resumes in it
  bool goes_on = false;
  std::string log;  // path of the log; created with the first byte of output
  // folder of its control group, which JobProcess creates; empty if it gets no group
  std::string group;
  std::uint64_t log_limit_bytes = 0;  // limit for the log; 0: no limit
  std::vector<int> cores;
  std::optional<double> timeout_s;
  double grace_s = 10;  // time from SIGTERM to SIGKILL
  // number of open files that are sent with the order; they stay open until the attempt is over
  std::size_t leases = 0;
  // The mark of processes that wait for the next job, with workers = "kept". Otherwise empty.
  std::string worker_mark;
};
nlohmann::json order_json(const JobOrder& order);
JobOrder order_from_json(const nlohmann::json& value);

// How an attempt ended, as a supervisor records it.
struct JobExit {
  std::int64_t attempt = 0;
  std::string problem;    // why it could not be started; empty if it was started
  bool is_short = false;  // it could not be started because open files, processes or memory ran out
  int code = 0;           // exit code, or 128 + signal
  int signal = 0;
  // why the supervisor ended it: "timeout", or the reason in the request; empty if it ended by
  // itself
  std::string ended_by;
  double started = 0, ended = 0;  // unix seconds
  // The resources that all processes of the attempt used, if its control group counts them.
  // Otherwise cpu_s is the sum over the processes that were waited for, and max_rss_bytes is the
  // peak of the largest of these processes. If a process stays for the next job, max_rss_bytes is
  // the peak of this process alone.
  double cpu_s = 0;
  std::int64_t max_rss_bytes = 0;
  // whether no process of the attempt remains; false if SIGKILL did not end all of them
  bool cleared = true;
  bool on_disk = false;  // its output survives a power loss; set only by read_record()
};
nlohmann::json exit_json(const JobExit& exit);
// throws Error or an exception of nlohmann::json if the value is not an exit
JobExit exit_from_json(const nlohmann::json& value);

class JobProcess {
 public:
  // Starts the attempt. If its command cannot be started, the attempt is over at once. leaders: the
  // living processes that this supervisor started. The set must outlive this object. This object
  // adds its own process to the set, and later removes it. worker: a kept process that runs the
  // attempt; null starts a new process.
  JobProcess(JobOrder order, std::vector<UniqueFd> leases, std::set<pid_t>& leaders, double now_s,
             double wall_s, std::unique_ptr<KeptWorker> worker = nullptr);
  ~JobProcess();
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  std::int64_t attempt() const { return order_.attempt; }
  pid_t leader() const { return leader_; }  // 0 once it has ended
  pid_t first_pid() const { return first_pid_; }
  int output_fd() const { return output_.get(); }  // -1 if it is closed
  void read_output();                              // moves available output into the log
  int worker_fd() const { return worker_ ? worker_->fd() : -1; }
  void read_worker(double now_s, double wall_s);
  // Call it once the attempt is over. Returns the process that stays for the next job, or null if
  // none stays.
  std::unique_ptr<KeptWorker> take_worker() { return std::move(worker_); }
  // The words with which the program's command begins, if the kept worker did not take up the job
  // correctly. Otherwise empty.
  const std::vector<std::string>& distrusted() const { return distrusted_; }
  void reaped(int wait_status, const rusage& usage, double wall_s);
  // Sends SIGTERM to all processes of the attempt, and SIGKILL after `grace_s`. `why` goes into the
  // record. Only the first call has an effect. An attempt that has already ended by itself keeps
  // its result.
  void stop(const std::string& why, double now_s);
  // Checks deadlines. Once the attempt's first process has ended, also ends the remaining
  // processes.
  void look(double now_s, double wall_s);
  bool over() const { return leader_ == 0 && tree_gone_; }
  double next_look_s() const;  // time for the next look(), on the monotonic clock
  JobExit exit();              // call it once the attempt is over

 private:
  void begin(std::unique_ptr<KeptWorker> worker);
  bool give_to(std::unique_ptr<KeptWorker> worker, const UniqueFd& output);
  void begin_process(const UniqueFd& output, const UniqueFd& group);
  void give_up_worker();
  void ended(int code, double wall_s);
  bool has_ended() const;
  void hold_leader() const;
  std::vector<pid_t> left() const;
  bool is_alone() const;  // no other process of the attempt remains
  void signal_tree(int number) const;

  JobOrder order_;
  std::vector<UniqueFd> leases_;
  std::set<pid_t>& leaders_;
  JobExit exit_;
  pid_t leader_ = 0, first_pid_ = 0;
  double cpu_before_s_ = 0;  // processor time that its process used for earlier jobs
  UniqueFd output_;
  std::unique_ptr<RankLog> log_;
  std::unique_ptr<KeptWorker> worker_;
  std::vector<std::string> distrusted_;
  bool tree_gone_ = false;
  // Time by which a kept worker must have taken up the attempt. 0 if it has taken it up, or if no
  // kept worker runs it.
  double take_up_by_ = 0;
  double now_s_ = 0;  // time of the last look()
  // on the monotonic clock; 0: not set
  double timeout_at_ = 0, kill_at_ = 0, give_up_at_ = 0, look_at_ = 0;
};

}  // namespace lockstep
