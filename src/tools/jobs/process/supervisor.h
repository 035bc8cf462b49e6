// The process that starts the jobs of a batch. It outlives the scheduler, and records in a file how
// each attempt ended, for a later scheduler.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/files/fd.h"
#include "tools/jobs/frames.h"
#include "tools/jobs/process/job_process.h"

namespace lockstep {

// Creates a record and locks it. The supervisor counts as alive while some process has the file
// open. Throws Error.
UniqueFd make_record(const std::filesystem::path& record);

// The main function of a supervisor. It takes orders from `socket`, a stream socket. It returns
// when the other side is gone and everything that it started is over. It appends each JobExit as a
// line to its record before sending it. Never throws because of a job. The calling process must
// have no children.
void supervise(int socket, UniqueFd record);

// A supervisor as its scheduler sees it.
class SupervisorLink {
 public:
  // Starts a supervisor. program: its argument list, to which the numbers of the socket and of the
  // record are added. From then on the supervisor counts as alive for all observers. Throws Error.
  SupervisorLink(std::vector<std::string> program, const std::filesystem::path& record);
  ~SupervisorLink();  // leaves it running while it has running jobs
  SupervisorLink(const SupervisorLink&) = delete;
  SupervisorLink& operator=(const SupervisorLink&) = delete;

  int fd() const { return socket_.get(); }
  pid_t pid() const { return pid_; }
  // Also passes the files of the leases to the supervisor. False if it is gone.
  bool start(const JobOrder& order, const std::vector<UniqueFd>& leases);
  void stop(std::int64_t attempt, const std::string& why);
  // Attempts that ended since the last call. Nothing once the supervisor is gone.
  std::optional<std::vector<JobExit>> take(const std::function<void(std::int64_t, pid_t)>& started);
  // For a supervisor that is gone. It closes its socket before it ends, so this waits until its
  // remaining processes are children of the calling process.
  void wait_for_end() const;
  // For a supervisor without jobs. It ends the processes that jobs left behind, and then itself.
  // This call waits for that.
  void end();

 private:
  UniqueFd socket_;
  pid_t pid_ = 0;
  FrameReader reader_;
};

// A supervisor's record, as far as it is whole.
struct SupervisorRecord {
  std::vector<JobExit> exits;
  bool alone = false;  // its scheduler was gone: it starts nothing more
};
SupervisorRecord read_record(const std::filesystem::path& record);
bool supervisor_lives(const std::filesystem::path& record);

}  // namespace lockstep
