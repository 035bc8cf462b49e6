// The state of each rank, in memory that is shared with the launcher. With it, the launcher can
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
  device,  // waits for the GPU
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
  std::uint64_t moves = 0;  // grows with every action of the rank
  Phase phase = Phase::none;
  std::int64_t step = 0;                   // the current step, from 1; 0 before the first
  Collective waits_in = Collective::none;  // the collective in which it waits for other ranks
  std::uint64_t number = 0;  // number of the last collective that it began or waited in, from 1
};
// "in backward of step 12", "waits in all-reduce 57 of step 12"
std::string describe(const Heartbeat& heartbeat);
// For a waiting rank: "all-reduce 57 of step 12".
std::string name_wait(const Heartbeat& heartbeat);

// The launcher's side. It owns the memory, which has no name and is freed with its last holder.
class Heartbeats {
 public:
  explicit Heartbeats(std::size_t ranks);  // throws Error
  ~Heartbeats();
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;
  // ranks inherit it; LOCKSTEP_HEARTBEAT_FD holds its number
  int fd() const { return file_.get(); }
  std::vector<Heartbeat> read() const;

 private:
  std::size_t ranks_;
  UniqueFd file_;
  void* memory_ = nullptr;
};

// A rank's side. LOCKSTEP_HEARTBEAT_FD and RANK locate the memory. If they are not set, the rank
// uses private memory. Before open_heartbeat, the other functions do nothing. Any thread may call
// them at any time.
void open_heartbeat();  // call it once, when the program starts
Heartbeat own_heartbeat();
void enter_phase(Phase phase, std::int64_t step);
void enter_phase(Phase phase);                // keeps the step
void beat();                                  // reports that the rank still works
void count_collective(std::uint64_t number);  // reports that this collective began

// During its lifetime, this rank waits in a collective.
class WaitingInCollective {
 public:
  explicit WaitingInCollective(Collective collective);  // the collective that was counted last
  WaitingInCollective(Collective collective, std::uint64_t number);
  ~WaitingInCollective();
  WaitingInCollective(const WaitingInCollective&) = delete;
  WaitingInCollective& operator=(const WaitingInCollective&) = delete;
};

}  // namespace lockstep
