// What each rank is doing, in memory that it shares with the launcher: so that a rank that dies can
// be said to have died where, and one that hangs can be told from one that is slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace lockstep {

enum class Phase : std::int32_t {
  none,  // has not said anything yet, and perhaps never will
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
  store  // waits for a word from another rank
};
const char* collective_name(Collective collective);

// A rank's state at a moment.
struct Heartbeat {
  std::uint64_t moves = 0;  // grows whenever the rank does anything
  Phase phase = Phase::none;
  std::int64_t step = 0;                   // the one under way, from 1; 0 before the first
  Collective waits_in = Collective::none;  // for the other ranks
  std::uint64_t number = 0;  // of the last collective that it waited in or began, from 1
};
// "in backward of step 12", "waits in all-reduce 57 of step 12"
std::string describe(const Heartbeat& heartbeat);
// Of one that waits: "all-reduce 57 of step 12"
std::string name_wait(const Heartbeat& heartbeat);

// The launcher's side. Owns the memory, which has no name and goes with the last who holds it.
class Heartbeats {
 public:
  explicit Heartbeats(std::size_t ranks);  // throws Error
  ~Heartbeats();
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;
  int fd() const { return file_.get(); }  // ranks inherit it, named in LOCKSTEP_HEARTBEAT_FD
  std::vector<Heartbeat> read() const;

 private:
  std::size_t ranks_;
  UniqueFd file_;
  void* memory_ = nullptr;
};

// A rank's side: LOCKSTEP_HEARTBEAT_FD and RANK say where; without them it is memory of its own.
// Before the first of these calls nothing is written. All may be called from any thread, at any
// time.
void open_heartbeat();  // once, when the program starts
Heartbeat own_heartbeat();
void enter_phase(Phase phase, std::int64_t step);
void enter_phase(Phase phase);                // of the same step
void beat();                                  // still at work, whatever the phase
void count_collective(std::uint64_t number);  // began it

// While it lives, this rank waits in a collective.
class WaitingInCollective {
 public:
  explicit WaitingInCollective(Collective collective);  // the one counted last
  WaitingInCollective(Collective collective, std::uint64_t number);
  ~WaitingInCollective();
  WaitingInCollective(const WaitingInCollective&) = delete;
  WaitingInCollective& operator=(const WaitingInCollective&) = delete;
};

}  // namespace lockstep
