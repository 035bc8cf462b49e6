// Holds ready jobs, and decides which of them begins next. It uses neither processes nor the
// ledger.
#pragma once

#include "tools/jobs/ledger/ledger.h"
#include "tools/jobs/schedule/placement.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace lockstep {

// Jobs with higher priority come first, then jobs with lower numbers. A job that fits may begin
// before earlier jobs that do not fit. There are two exceptions, without which earlier jobs might
// wait for ever:
//   - If an earlier job lacks devices, no job that needs devices begins.
//   - If an earlier job lacks only cores, no job of lower priority that needs cores begins. A job
//     of the same priority may begin, until the earlier one has lacked cores for `let_past_s`.
class JobQueue {
 public:
  static constexpr double let_past_s = 10;

  // The request of a job. If one job does not fit, no other job with an equal request fits.
  struct Demand {
    double cpus = 1;
    GpuRequest gpus;
    // the job's kind, if measurements decide how many jobs of this kind share a device; else empty
    std::string packed;
    bool alone = false;  // set by the caller: the job gets its device for itself
    bool operator<(const Demand& other) const;
  };

  // Adds a job. If QueuedJob::not_before is later than wall_s (unix time), the job is delayed until
  // then.
  void put(const QueuedJob& job, const Demand& demand, double wall_s);
  // Removes a job that was added with the same values. Has no effect if the job is absent.
  void erase(const QueuedJob& job);
  void clear();  // keeps the time since when each job lacks cores, in case the job is added again
  // Removes and returns delayed jobs whose time has come. The caller adds them again with put().
  std::vector<std::int64_t> take_delayed(double wall_s);
  std::optional<double> next_delayed() const;  // unix time of the next delayed job

  bool empty() const { return ready_.empty() && delayed_.empty(); }
  // Whether `is` returns true for some ready job. If several jobs have equal requests, only the
  // first of them is tested.
  bool any(const std::function<bool(std::int64_t)>& is) const;

  struct Caller {
    // whether the job needs devices if it begins now
    std::function<bool(std::int64_t)> wants_devices;
    // Starts the job and removes it from the queue, or returns the resources that it lacks.
    std::function<Lacks(std::int64_t)> begin;
  };
  // Starts jobs until no more fit. now_s: time on the monotonic clock.
  void begin_what_fits(double now_s, const Caller& caller);

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;  // pairs of -priority and number
  std::map<Demand, std::set<Place>> ready_;             // empty sets are removed
  std::multimap<double, std::int64_t> delayed_;  // by the unix time at which they become ready
  // by job: since when it lacks cores, on the monotonic clock
  std::map<std::int64_t, double> lacks_cores_since_;
};

}  // namespace lockstep
