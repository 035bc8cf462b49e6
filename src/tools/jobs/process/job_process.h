// One attempt from a supervisor's view: a process with all its descendants, its log, its deadline.
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
  std::string mark;                      // value of LOCKSTEP_ATTEMPT
  std::vector<std::string> command;      // argument list
  std::vector<std::string> environment;  // "NAME=value" over the supervisor's own
  std::string folder;                    // working folder
  std::string out;                       // the attempt's own folder, created before it starts
  bool goes_on = false;                  // the folder exists, from the previous attempt
  std::string log;                       // created with the first byte of output
  std::string group;                     // its control group, which it creates; "": none
  std::uint64_t log_limit_bytes = 0;     // 0: none
  std::vector<int> cores;
  std::optional<double> timeout_s;
  double grace_s = 10;     // from SIGTERM to SIGKILL
  std::size_t leases = 0;  // number of open files that come with it, kept until it is over
  // With workers = "kept": the mark of processes that wait for the next job. Otherwise "".
  std::string worker_mark;
};
nlohmann::json order_json(const JobOrder& order);
JobOrder order_from_json(const nlohmann::json& value);

// A supervisor's record of a finished attempt.
struct JobExit {
  std::int64_t attempt = 0;
  std::string problem;    // why it could not be started, or ""
  bool is_short = false;  // because files, processes or memory ran out
  int code = 0;           // exit code, or 128 + signal
  int signal = 0;
  std::string ended_by;           // "", "timeout", or the word of the requester
  double started = 0, ended = 0;  // unix seconds
  // Summed over all processes of the attempt if its control group counts them. Otherwise over the
  // processes that were waited for, with the memory of the largest. If a process stays for the next
  // job, memory is that of this process alone, without children that it waited for.
  double cpu_s = 0;
  std::int64_t max_rss_bytes = 0;
  bool cleared = true;   // whether none of its processes remain; false: SIGKILL did not end some
  bool on_disk = false;  // its output survives a power loss; known only from a record
};
nlohmann::json exit_json(const JobExit& exit);
JobExit exit_from_json(const nlohmann::json& value);  // throws Error or nlohmann's

class JobProcess {
 public:
  // Starts the order. An attempt whose command cannot be started is over at once. leaders: the
  // living processes that this supervisor started. The set must outlive this object, which adds its
  // own process and removes it. worker: a kept process that serves the order; null: starts a new
  // process.
  JobProcess(JobOrder order, std::vector<UniqueFd> leases, std::set<pid_t>& leaders, double now_s,
             double wall_s, std::unique_ptr<KeptWorker> worker = nullptr);
  ~JobProcess();
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  std::int64_t attempt() const { return order_.attempt; }
  pid_t leader() const { return leader_; }  // 0 once it has ended
  pid_t first_pid() const { return first_pid_; }
  int output_fd() const { return output_.get(); }  // -1: closed
  void read_output();                              // moves available output into the log
  int worker_fd() const { return worker_ ? worker_->fd() : -1; }
  void read_worker(double now_s, double wall_s);
  // Once the attempt is over: returns the process that stays for the next job, if there is one.
  std::unique_ptr<KeptWorker> take_worker() { return std::move(worker_); }
  // The words of a program whose copy did not take up the job correctly; otherwise empty.
  const std::vector<std::string>& distrusted() const { return distrusted_; }
  void reaped(int wait_status, const rusage& usage, double wall_s);
  // Sends SIGTERM to all processes of the attempt, and SIGKILL later. `why` goes into the record;
  // only the first call counts. An attempt that ended by itself is not changed.
  void stop(const std::string& why, double now_s);
  // Checks deadlines. Once the leader is gone, also checks the remaining processes.
  void look(double now_s, double wall_s);
  bool over() const { return leader_ == 0 && tree_gone_; }
  double next_look_s() const;  // monotonic
  JobExit exit();              // call it once it is over

 private:
  void begin(std::unique_ptr<KeptWorker> worker);
  bool give_to(std::unique_ptr<KeptWorker> worker, const UniqueFd& output);
  void begin_process(const UniqueFd& output, const UniqueFd& group);
  void give_up_worker();
  void ended(int code, double wall_s);
  bool has_ended() const;
  void hold_leader() const;
  std::vector<pid_t> left() const;
  bool is_alone() const;  // no other process of it remains
  void signal_tree(int number) const;

  JobOrder order_;
  std::vector<UniqueFd> leases_;
  std::set<pid_t>& leaders_;
  JobExit exit_;
  pid_t leader_ = 0, first_pid_ = 0;
  double cpu_before_s_ = 0;  // used by its process for earlier jobs
  UniqueFd output_;
  std::unique_ptr<RankLog> log_;
  std::unique_ptr<KeptWorker> worker_;
  std::vector<std::string> distrusted_;
  bool tree_gone_ = false;
  double take_up_by_ = 0;  // the attempt given to a kept worker that has not taken it up; 0: none
  double now_s_ = 0;       // time of the last look
  double timeout_at_ = 0, kill_at_ = 0, give_up_at_ = 0, look_at_ = 0;  // 0: not set
};

}  // namespace lockstep
