// The process that starts the jobs of a batch. It outlives the scheduler, and leaves in a file how
// each attempt ended, so that a scheduler that comes later knows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "jobs/frames.h"
#include "jobs/job_process.h"

namespace lockstep {

// A new record, locked: the supervisor lives as long as somebody has the file open. Throws Error.
UniqueFd make_record(const std::filesystem::path& record);

// What the program of a supervisor runs: takes orders from `socket`, a stream socket, until the
// other side is gone and all that it started is over. Appends each JobExit as a line to its record
// before it sends it. Never throws for what a job does. The calling process must have no children.
void supervise(int socket, UniqueFd record);

// The scheduler's end.
class SupervisorLink {
 public:
  // Starts `program` (an argument list to which the numbers of the socket and of the record are
  // added), which lives from here on for all who look. Throws Error.
  SupervisorLink(std::vector<std::string> program, const std::filesystem::path& record);
  ~SupervisorLink();  // leaves it running while jobs of its run
  SupervisorLink(const SupervisorLink&) = delete;
  SupervisorLink& operator=(const SupervisorLink&) = delete;

  int fd() const { return socket_.get(); }
  pid_t pid() const { return pid_; }
  // The files of the leases are the supervisor's from here on. False: it is gone.
  bool start(const JobOrder& order, const std::vector<UniqueFd>& leases);
  void stop(std::int64_t attempt, const std::string& why);
  // What ended since; nothing once it is gone.
  std::optional<std::vector<JobExit>> take(const std::function<void(std::int64_t, pid_t)>& started);
  // Of one that is gone: until what it leaves behind are children of this process. One that ends
  // closes its socket before that.
  void wait_for_end() const;
  // Of one without jobs: it ends whatever they left behind, then itself, which is waited for.
  void end();

 private:
  UniqueFd socket_;
  pid_t pid_ = 0;
  FrameReader reader_;
};

// The record that a supervisor left, as far as it is whole.
struct SupervisorRecord {
  std::vector<JobExit> exits;
  bool alone = false;  // its scheduler was gone: it starts nothing more
};
SupervisorRecord read_record(const std::filesystem::path& record);
bool supervisor_lives(const std::filesystem::path& record);

}  // namespace lockstep
