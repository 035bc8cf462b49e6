// Implements the supervisor, which is the process that starts the jobs of a batch. It outlives the
// scheduler. It records in a file how each attempt ended, so that a later scheduler can read it.
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

// Creates the file of a supervisor's record and locks it. The supervisor is considered alive while
// some process has the file open. Throws Error if that fails.
UniqueFd make_record(const std::filesystem::path& record);

// The main function of a supervisor. Takes orders from `socket`, a stream socket. Returns when the
// other side is gone and all attempts that the supervisor started are over. Appends each JobExit as
// a line to its record before sending it. A job's failure does not make it throw. The calling
// process must have no children.
void supervise(int socket, UniqueFd record);

// The scheduler's side of a supervisor.
class SupervisorLink {
 public:
  // Starts a supervisor. program: its argument list, to which the file descriptors of the socket
  // and the record are added. Once the constructor returns, supervisor_lives() is true. Throws
  // Error if the supervisor cannot be started.
  SupervisorLink(std::vector<std::string> program, const std::filesystem::path& record);
  ~SupervisorLink();  // closes the socket; the supervisor ends once its jobs are over
  SupervisorLink(const SupervisorLink&) = delete;
  SupervisorLink& operator=(const SupervisorLink&) = delete;

  int fd() const { return socket_.get(); }
  pid_t pid() const { return pid_; }
  // Sends an order together with the open files of its leases (schedule/lease.h). Returns false if
  // the supervisor is gone.
  bool start(const JobOrder& order, const std::vector<UniqueFd>& leases);
  void stop(std::int64_t attempt, const std::string& why);
  // Returns the attempts that ended since the last call. The result has no value once the
  // supervisor is gone. started: called with attempt and process for each attempt that has started.
  std::optional<std::vector<JobExit>> take(const std::function<void(std::int64_t, pid_t)>& started);
  // Call it for a supervisor that has closed its socket. Waits for its end, for at most five
  // seconds. After that, its remaining processes are children of the calling process.
  void wait_for_end() const;
  // Call it for a supervisor without jobs. The supervisor ends the processes that jobs left behind,
  // and then itself. This call waits for its end.
  void end();

 private:
  UniqueFd socket_;
  pid_t pid_ = 0;
  FrameReader reader_;
};

// The readable lines of a supervisor's record.
struct SupervisorRecord {
  std::vector<JobExit> exits;
  bool alone = false;  // the supervisor's scheduler was gone, so the supervisor starts nothing more
};
SupervisorRecord read_record(const std::filesystem::path& record);
bool supervisor_lives(const std::filesystem::path& record);

}  // namespace lockstep
