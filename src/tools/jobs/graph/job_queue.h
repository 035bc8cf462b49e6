// Ready jobs, and which of them begins next. Independent of processes and of the ledger.
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

// Jobs with higher priority come first, then those with lower numbers. A job that fits begins
// before earlier ones that do not fit. There are two exceptions, without which earlier jobs might
// wait for ever:
//   - If an earlier job lacks devices, no job that wants devices begins.
//   - If an earlier job lacks only cores, no job of lower priority that wants cores begins. A job
//     of the same priority does, until the earlier one has lacked cores for `let_past_s`.
class JobQueue {
 public:
  static constexpr double let_past_s = 10;

  // Jobs with equal requests: if one of them does not fit, none does.
  struct Demand {
    double cpus = 1;
    GpuRequest gpus;
    std::string packed;  // the kind of jobs that share devices by measurement; or ""
    bool alone = false;  // a further distinction by the caller
    bool operator<(const Demand& other) const;
  };

  // If QueuedJob::not_before is later than wall_s (unix time), the job begins after it.
  void put(const QueuedJob& job, const Demand& demand, double wall_s);
  // The arguments are those of `put`. Has no effect if the job is absent.
  void erase(const QueuedJob& job);
  void clear();  // remembers since when jobs lack cores, for jobs that are put again
  // Removes and returns jobs whose time has come; the caller puts them again.
  std::vector<std::int64_t> take_delayed(double wall_s);
  std::optional<double> next_delayed() const;  // unix time

  bool empty() const { return ready_.empty() && delayed_.empty(); }
  // Whether some ready job satisfies `is`. Only the first job of each demand is tested.
  bool any(const std::function<bool(std::int64_t)>& is) const;

  struct Caller {
    std::function<bool(std::int64_t)> wants_devices;  // at this moment
    // Starts the job and erases it from here, or returns what it lacks.
    std::function<Lacks(std::int64_t)> begin;
  };
  // Starts jobs until no more fit. now_s: monotonic.
  void begin_what_fits(double now_s, const Caller& caller);

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;  // -priority, number
  std::map<Demand, std::set<Place>> ready_;             // no set is empty
  std::multimap<double, std::int64_t> delayed_;         // by unix time
  std::map<std::int64_t, double> lacks_cores_since_;    // monotonic
};

}  // namespace lockstep
