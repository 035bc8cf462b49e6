// A process that stays for the next job of its program (workers = "kept"), from a supervisor's
// view. There are two ways. Either a job that has loaded its data forks: it runs itself, and its
// copy waits at the inherited socket. The copy gets the next job, and forks before running it. So
// every job is a process of its own and a child of the supervisor, with its own session, log and
// times. Or a job that has ended stays itself: it reports its exit code, and waits at the socket.
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

struct JobOrder;

// The variable of jobs in a batch with kept workers: "FD MARK". MARK is the value of
// LOCKSTEP_ATTEMPT in processes that wait for a job.
inline constexpr const char* worker_variable = "LOCKSTEP_WORKER";

class KeptWorker {
 public:
  // Also returns the end of the socket that a new process must inherit. Throws Error.
  static std::pair<std::unique_ptr<KeptWorker>, UniqueFd> make();
  KeptWorker(const KeptWorker&) = delete;
  KeptWorker& operator=(const KeptWorker&) = delete;

  // The new process runs this attempt.
  void began(pid_t job, const JobOrder& order);
  // Gives the attempt to the copy, which prints to `output` from now on. False if the copy is gone.
  bool give(const JobOrder& order, int output);

  int fd() const { return socket_.get(); }  // -1: nothing more will be received
  void read();                              // reads available messages, without waiting
  bool took() const { return took_; }       // the attempt that began last is running
  pid_t copy() const { return copy_; }      // the process that waits for the next job; 0: none
  // The exit code of a job that has ended while its process stayed. The process is `copy` now, or 0
  // if it has gone since. Nothing: the job runs, or its process ends with it.
  std::optional<int> ended() const { return ended_; }
  // Whether the copy can run this order. The command must begin with the program's words, in the
  // same folder (in another the same words may name another file), or each in the folder of its
  // attempt. The environment must be the same, except for variables that differ between attempts.
  bool serves(const JobOrder& order) const;
  const std::vector<std::string>& program() const { return program_; }
  // No further job comes. Ends the copy if it is a child of the calling process. others: children
  // known not to be copies; one may have the number of a copy that has gone.
  void dismiss(const std::set<pid_t>& others = {});

 private:
  explicit KeptWorker(UniqueFd socket) : socket_(std::move(socket)) {}
  void hear(const std::string& line);
  bool may_stay(pid_t process, const nlohmann::json& said) const;

  UniqueFd socket_;
  std::string bytes_;
  pid_t job_ = 0, copy_ = 0;
  bool took_ = false;
  std::optional<int> ended_;
  std::vector<std::string> program_, command_, environment_;  // command_ and environment_ are those
                                                              // of the job
  std::string folder_;                                        // of the job
  bool in_own_folder_ = false;                                // folder_ is that of its attempt
};

}  // namespace lockstep
