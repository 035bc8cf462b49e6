// Dependencies between jobs, and the consequences for waiting jobs when one of them changes.
// Independent of processes and of the ledger.
#pragma once

#include "tools/jobs/ledger/ledger.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep {

// A job's standing. settled: it does not wait (it runs or is over). ready: all jobs that it needs
// have succeeded. never: a job that it needs is over without success, or never runs itself.
enum class Standing { settled, waits, ready, never };

class JobGraph {
 public:
  struct Change {
    std::int64_t job = 0;
    Standing was = Standing::settled, is = Standing::settled;
    std::int64_t because = 0;  // for `never`: a job that it needs
  };

  void add(std::int64_t job, JobState state);
  // Both jobs must exist; repeating a call has no effect. There must be no circle.
  void need(std::int64_t job, std::int64_t needed);
  // Call it once all jobs are added. Returns the standing of each waiting job, in the order of
  // `jobs`.
  std::vector<Change> begin(const std::vector<std::int64_t>& jobs);

  // Returns the changed standings of this job and of others. Each comes after those it depends on.
  std::vector<Change> set_state(std::int64_t job, JobState state);
  Standing standing(std::int64_t job) const { return nodes_.at(job).standing; }

 private:
  struct Node {
    JobState state = JobState::waiting;
    Standing standing = Standing::settled;
    std::int64_t because = 0;
    std::size_t met = 0;  // how many of `needs` have succeeded: the first ones
    std::vector<std::int64_t> needs, needed_by;
  };
  bool is_lost(const Node& node) const;
  void stand(Node& node);
  bool review(std::int64_t job, bool may_be_lost, std::vector<Change>& changes);

  std::unordered_map<std::int64_t, Node> nodes_;
};

}  // namespace lockstep
