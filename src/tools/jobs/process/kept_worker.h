// Implements the supervisor's side of workers = "kept": a process stays for the next job of its
// program.
//
// A process can stay in two ways. In the first way, a job forks when it has loaded its data. The
// original process runs the job, and the copy waits at the inherited socket. The copy gets the next
// job, and forks before it runs that job. So every job is a separate process and a child of the
// supervisor, with its own session, log and times. In the second way, a job ends but its process
// stays. The process reports the job's exit code, and waits at the socket.
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

// Jobs of a batch with kept workers have this variable, with the value "FD MARK". FD is the number
// of the socket. MARK is the value of LOCKSTEP_ATTEMPT in processes that wait for a job.
inline constexpr const char* worker_variable = "LOCKSTEP_WORKER";

class KeptWorker {
 public:
  // Returns an object without a process, and the end of the socket that a new process must inherit.
  // Throws Error if no socket can be made.
  static std::pair<std::unique_ptr<KeptWorker>, UniqueFd> make();
  KeptWorker(const KeptWorker&) = delete;
  KeptWorker& operator=(const KeptWorker&) = delete;

  // Reports that the new process `job` runs this attempt.
  void began(pid_t job, const JobOrder& order);
  // Gives the attempt to the waiting process, which then prints to `output`. Returns false if that
  // process is gone.
  bool give(const JobOrder& order, int output);

  int fd() const { return socket_.get(); }  // -1 if nothing more will be received
  void read();                              // reads available messages without waiting
  bool took() const { return took_; }       // whether the latest attempt has begun to run
  // the process that waits for the next job; 0 if none waits
  pid_t copy() const { return copy_; }
  // The exit code of a job that has ended while its process stays. copy() is then that process, or
  // 0 if the process has ended since. Returns nothing while the job runs, and if its process does
  // not stay.
  std::optional<int> ended() const { return ended_; }
  // Whether the waiting process can run this order. All of these must hold:
  //   - The command begins with the words of the program.
  //   - The working folder is the same as before, because the same words may name another file in
  //     another folder. Alternatively, each job's working folder is the folder of its own attempt.
  //   - The environment is the same, except for variables that differ between attempts.
  bool serves(const JobOrder& order) const;
  const std::vector<std::string>& program() const { return program_; }
  // Call it if no further job comes. Ends the waiting process if it is a child of the calling
  // process. others: children of the calling process that are known to be other processes. If the
  // waiting process has ended, one of these children may have its process number.
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
  // command_ and environment_ are those of the latest job
  std::vector<std::string> program_, command_, environment_;
  std::string folder_;          // working folder of the latest job
  bool in_own_folder_ = false;  // whether folder_ is the folder of that job's attempt
};

}  // namespace lockstep
