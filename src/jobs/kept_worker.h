// A process that stays for the next job of its program (workers = "kept"), as a supervisor sees it.
// Either a job that has loaded what it needs forks: it runs itself, and its copy waits at the
// socket that both inherited. The next job is given to the copy, which forks before it runs it. So
// every job is a process of its own, a child of the supervisor, with a session, a log and times of
// its own. Or a job that has ended stays itself: it says with which code, and waits at the socket.
#pragma once

#include <sys/types.h>

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace lockstep {

struct JobOrder;

// What a job of a batch with kept workers finds: "FD MARK". MARK is the value of LOCKSTEP_ATTEMPT
// of processes that wait for a job.
inline constexpr const char* worker_variable = "LOCKSTEP_WORKER";

class KeptWorker {
 public:
  // With the end of the socket that a new process is to inherit. Throws Error.
  static std::pair<std::unique_ptr<KeptWorker>, UniqueFd> make();
  KeptWorker(const KeptWorker&) = delete;
  KeptWorker& operator=(const KeptWorker&) = delete;

  // The new process runs this attempt.
  void began(pid_t job, const JobOrder& order);
  // Gives the attempt to the copy, which prints to `output` from here on. False: it is gone.
  bool give(const JobOrder& order, int output);

  int fd() const { return socket_.get(); }  // -1: nobody will say anything any more
  void read();                              // what there is, without waiting
  bool took() const { return took_; }       // the attempt that began last is being run
  pid_t copy() const { return copy_; }      // waits for the next job; 0: none
  // The exit code of the job, which has ended, and whose process is `copy` now, or 0 where it has
  // gone since; nothing: it runs, or its process ends with it.
  std::optional<int> ended() const { return ended_; }
  // Whether the copy can run this one: it begins with the program's words, in the same folder (in
  // another the same words may name another file), or each in that of its attempt, and the
  // environment is the same but for what differs from attempt to attempt.
  bool serves(const JobOrder& order) const;
  const std::vector<std::string>& program() const { return program_; }
  // No job will come. Ends the copy if it is a child of the calling process. `others`: children
  // that are known to be no copy, one of which may have the number of a copy that has gone.
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
  std::vector<std::string> program_, command_, environment_;  // the latter two: of the job
  std::string folder_;                                        // of the job too
  bool in_own_folder_ = false;                                // which is that of its attempt
};

}  // namespace lockstep
