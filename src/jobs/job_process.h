// One attempt as a supervisor sees it: a process with all it starts, its log, its deadline.
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

#include "base/fd.h"
#include "launch/rank_log.h"

namespace lockstep {

struct JobOrder {
  std::int64_t attempt = 0;
  std::string mark;                      // value of LOCKSTEP_ATTEMPT
  std::vector<std::string> command;      // argument list
  std::vector<std::string> environment;  // "NAME=value" over the supervisor's own
  std::string folder;                    // working folder
  std::string out;                       // the attempt's own folder, made before it starts
  bool goes_on = false;                  // the folder is there, from the attempt before
  std::string log;                       // made with the first byte that it prints
  std::uint64_t log_limit_bytes = 0;     // 0: none
  std::vector<int> cores;
  std::optional<double> timeout_s;
  double grace_s = 10;     // from SIGTERM to SIGKILL
  std::size_t leases = 0;  // open files that come with it and are kept until it is over
};
nlohmann::json order_json(const JobOrder& order);
JobOrder order_from_json(const nlohmann::json& value);

// What a supervisor records of an attempt that is over.
struct JobExit {
  std::int64_t attempt = 0;
  std::string problem;  // why it could not be started; else ""
  int code = 0;         // exit code, or 128 + signal
  int signal = 0;
  std::string ended_by;           // "", "timeout", or the word of the one who asked for it
  double started = 0, ended = 0;  // unix seconds
  double cpu_s = 0;
  std::int64_t max_rss_bytes = 0;
  bool cleared = true;  // nothing of it is left; false: processes that SIGKILL does not end
};
nlohmann::json exit_json(const JobExit& exit);
JobExit exit_from_json(const nlohmann::json& value);

class JobProcess {
 public:
  // Starts it; a command that cannot be started is over at once. `leaders`: the processes that this
  // supervisor started and that have not ended, which stays; this one adds and removes its own.
  JobProcess(JobOrder order, std::vector<UniqueFd> leases, std::set<pid_t>& leaders, double now_s,
             double wall_s);
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  std::int64_t attempt() const { return order_.attempt; }
  pid_t leader() const { return leader_; }  // 0: it has ended
  pid_t first_pid() const { return first_pid_; }
  int output_fd() const { return output_.get(); }  // -1: closed
  void read_output();                              // what there is, into the log
  void reaped(int wait_status, const rusage& usage, double wall_s);
  // SIGTERM for all of it, and SIGKILL later. `why` goes into the record; the first one counts.
  void stop(const std::string& why, double now_s);
  // Looks at deadlines, and, once the leader is gone, at what it left.
  void look(double now_s);
  bool over() const { return leader_ == 0 && tree_gone_; }
  double next_look_s() const;  // monotonic
  JobExit exit();              // once it is over

 private:
  std::vector<pid_t> left() const;
  void signal_tree(int number) const;

  JobOrder order_;
  std::vector<UniqueFd> leases_;
  std::set<pid_t>& leaders_;
  JobExit exit_;
  pid_t leader_ = 0, first_pid_ = 0;
  UniqueFd output_;
  std::unique_ptr<RankLog> log_;
  bool tree_gone_ = false;
  double timeout_at_ = 0, kill_at_ = 0, give_up_at_ = 0, look_at_ = 0;  // 0: not set
};

}  // namespace lockstep
