// What each rank is doing, in memory that it shares with the launcher: so that a rank that dies can
// be said to have died where, and one that hangs can be told from one that is slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace lockstep {

enum class Activity : std::int32_t {
  none,  // has not said anything yet, and perhaps never will
  starting,
  data,
  forward,
  backward,
  reduction,
  update,
  device,  // waits for the GPU
  evaluation,
  checkpoint,
  ending
};
const char* activity_name(Activity activity);

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
struct Crumb {
  std::uint64_t moves = 0;  // grows whenever the rank does anything
  Activity activity = Activity::none;
  std::int64_t step = 0;                   // the one under way, from 1; 0 before the first
  Collective waits_in = Collective::none;  // for the other ranks
  std::uint64_t number = 0;  // of the last collective that it waited in or began, from 1
};
// "in backward of step 12", "waits in all-reduce 57 of step 12"
std::string describe(const Crumb& crumb);
// Of one that waits: "all-reduce 57 of step 12"
std::string name_wait(const Crumb& crumb);

// The launcher's side. Owns the memory, which has no name and goes with the last who holds it.
class Breadcrumbs {
 public:
  explicit Breadcrumbs(std::size_t ranks);  // throws Error
  ~Breadcrumbs();
  Breadcrumbs(const Breadcrumbs&) = delete;
  Breadcrumbs& operator=(const Breadcrumbs&) = delete;
  int fd() const { return file_.get(); }  // ranks inherit it, named in LOCKSTEP_CRUMBS_FD
  std::vector<Crumb> read() const;

 private:
  std::size_t ranks_;
  UniqueFd file_;
  void* memory_ = nullptr;
};

// A rank's side: LOCKSTEP_CRUMBS_FD and RANK say where; without them it is memory of its own.
// Before the first of these calls nothing is written. All may be called from any thread, at any
// time.
void open_breadcrumbs();  // once, when the program starts
Crumb own_crumb();
void leave_crumb(Activity activity, std::int64_t step);
void leave_crumb(Activity activity);          // of the same step
void touch_crumb();                           // still at work, whatever the activity
void count_collective(std::uint64_t number);  // began it

// While it lives, this rank waits in a collective.
class WaitingCrumb {
 public:
  explicit WaitingCrumb(Collective collective);  // the one counted last
  WaitingCrumb(Collective collective, std::uint64_t number);
  ~WaitingCrumb();
  WaitingCrumb(const WaitingCrumb&) = delete;
  WaitingCrumb& operator=(const WaitingCrumb&) = delete;
};

}  // namespace lockstep
