// The state of each rank, in memory that the ranks share with the launcher. So the launcher can
// report where a rank died, and can tell a hanging rank from a slow one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

enum class Phase : std::int32_t {
  none,  // has not reported anything yet, and may never do so
  starting,
  data,
  forward,
  backward,
  reduction,
  update,
  device,  // waits until the GPU has done its work
  evaluation,
  prediction,
  checkpoint,
  ending
};
const char* phase_name(Phase phase);

enum class Collective : std::int32_t {
  none,
  all_reduce,
  reduce_scatter,
  gather,
  exchange,
  broadcast,
  store  // waits for a message from another rank
};
const char* collective_name(Collective collective);

// A rank's state at one moment.
struct Heartbeat {
  std::uint64_t moves = 0;  // grows whenever the rank reports anything
  Phase phase = Phase::none;
  std::int64_t step = 0;                   // the current step, from 1; 0 before the first step
  Collective waits_in = Collective::none;  // the collective in which the rank waits for other ranks
  // the number, from 1, of the last collective in which the rank began or waited
  std::uint64_t number = 0;
};
// "in backward of step 12", "waits in all-reduce 57 of step 12"
std::string describe(const Heartbeat& heartbeat);
// For a waiting rank: "all-reduce 57 of step 12".
std::string name_wait(const Heartbeat& heartbeat);

// The launcher's side: owns the shared memory. It is an unnamed file, which is freed when no
// process has it open any more.
class Heartbeats {
 public:
  explicit Heartbeats(std::size_t ranks);  // throws Error
  ~Heartbeats();
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;
  // the file's descriptor, which ranks inherit; LOCKSTEP_HEARTBEAT_FD has its number
  int fd() const { return file_.get(); }
  std::vector<Heartbeat> read() const;

 private:
  std::size_t ranks_;
  UniqueFd file_;
  void* memory_ = nullptr;
};

// A rank's side. The variables LOCKSTEP_HEARTBEAT_FD and RANK tell where its state is in the shared
// memory. If they are not set, the rank uses memory of its own. Before open_heartbeat, the other
// functions do nothing. Any thread may call them at any time.
void open_heartbeat();  // call it once, when the program starts
Heartbeat own_heartbeat();
void enter_phase(Phase phase, std::int64_t step);
void enter_phase(Phase phase);                // leaves the step unchanged
void beat();                                  // reports that the rank still works
void count_collective(std::uint64_t number);  // reports that the collective with this number began

// During the lifetime of this object, the rank's state says that it waits in a collective.
class WaitingInCollective {
 public:
  // with the number of the last count_collective
  explicit WaitingInCollective(Collective collective);
  WaitingInCollective(Collective collective, std::uint64_t number);
  ~WaitingInCollective();
  WaitingInCollective(const WaitingInCollective&) = delete;
  WaitingInCollective& operator=(const WaitingInCollective&) = delete;
};

}  // namespace lockstep
