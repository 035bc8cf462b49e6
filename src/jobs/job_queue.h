// Jobs that are ready, and which of them begins next. Knows nothing of processes or of the ledger.
#pragma once

#include "jobs/ledger.h"
#include "jobs/placement.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace lockstep {

// Higher priority first, then lower number. A job that fits begins before earlier ones that do not,
// with these exceptions, or those would wait for ever:
//   - Where an earlier job lacks devices, no job that wants devices begins.
//   - Where an earlier job lacks cores alone, no job of lower priority that wants cores begins. One
//     of the same priority does, until the earlier one has lacked cores for `let_past_s`.
class JobQueue {
 public:
  static constexpr double let_past_s = 10;

  // Jobs that ask for the same: where one of them does not fit, none does.
  struct Demand {
    double cpus = 1;
    GpuRequest gpus;
    std::string packed;  // the kind of jobs that share devices by what is measured; or ""
    bool alone = false;  // for what the caller decides besides
    bool operator<(const Demand& other) const;
  };

  // To begin once its QueuedJob::not_before is over, if that is later than wall_s (unix time).
  void put(const QueuedJob& job, const Demand& demand, double wall_s);
  // As it was put; of one that is not there nothing.
  void erase(const QueuedJob& job);
  void clear();  // since when jobs lack cores is remembered for those that are put again
  // Those whose time has come; they are to be put again.
  std::vector<std::int64_t> take_delayed(double wall_s);
  std::optional<double> next_delayed() const;  // unix time

  bool empty() const { return ready_.empty() && delayed_.empty(); }
  // Whether one of those that are ready is such a job; `is` is asked of the first of each demand.
  bool any(const std::function<bool(std::int64_t)>& is) const;

  struct Caller {
    std::function<bool(std::int64_t)> wants_devices;  // as things are now
    // Begins it and erases it from here, or says what it lacks.
    std::function<Lacks(std::int64_t)> begin;
  };
  // Until no more fit. now_s: monotonic.
  void begin_what_fits(double now_s, const Caller& caller);

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;  // -priority, number
  std::map<Demand, std::set<Place>> ready_;             // none is empty
  std::multimap<double, std::int64_t> delayed_;         // by unix time
  std::map<std::int64_t, double> lacks_cores_since_;    // monotonic
};

}  // namespace lockstep
