// A process that stays for the next job of its program (workers = "kept"), as a supervisor sees it.
// There are two ways. In the first, a job that has loaded its data forks. The job runs itself, and
// its copy waits at the inherited socket. The copy gets the next job, and forks before it runs that
// job. So every job is a process of its own and a child of the supervisor, with its own session,
// log and times. In the second, the process of a job that has ended stays: it reports the exit
// code, and waits at the socket.
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

// Jobs of a batch with kept workers have this variable, "FD MARK". MARK is the value of
// LOCKSTEP_ATTEMPT in processes that wait for a job.
inline constexpr const char* worker_variable = "LOCKSTEP_WORKER";

class KeptWorker {
 public:
  // Also returns the end of the socket that a new process must inherit. Throws Error.
  static std::pair<std::unique_ptr<KeptWorker>, UniqueFd> make();
  KeptWorker(const KeptWorker&) = delete;
  KeptWorker& operator=(const KeptWorker&) = delete;

  // Tells it that the new process runs this attempt.
  void began(pid_t job, const JobOrder& order);
  // Gives the attempt to the copy, which then prints to `output`. False if the copy is gone.
  bool give(const JobOrder& order, int output);

  int fd() const { return socket_.get(); }  // -1: nothing more will be received
  void read();                              // reads available messages, without waiting
  bool took() const { return took_; }       // the attempt that began last is running
  pid_t copy() const { return copy_; }      // the process that waits for the next job; 0: none
  // The exit code of a job that has ended while its process stayed. That process is now `copy`,
  // which is 0 if the process has ended since. Nothing if the job runs, or if its process ends with
  // it.
  std::optional<int> ended() const { return ended_; }
  // Whether the copy can run this order. The command must begin with the program's words. The
  // folder must be the same (in another one the same words may name another file), or each must be
  // the folder of its attempt. The environment must be the same, except for variables that differ
  // between attempts.
  bool serves(const JobOrder& order) const;
  const std::vector<std::string>& program() const { return program_; }
  // Call it if no further job comes. Ends the copy if it is a child of the calling process. others:
  // children that are known not to be copies. One of them may have the number of a copy that has
  // ended.
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
