// Keeps dependencies between jobs. If the state of a job changes, this code computes the
// consequences for waiting jobs. It uses neither processes nor the ledger.
#pragma once

#include "tools/jobs/ledger/ledger.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep {

// Says whether a job may run.
//   - settled: the job does not wait, because it runs or is over
//   - waits: a job that it needs is not over yet
//   - ready: all jobs that it needs have succeeded
//   - never: a job that it needs is over without success, or is itself `never`
enum class Standing { settled, waits, ready, never };

class JobGraph {
 public:
  struct Change {
    std::int64_t job = 0;
    Standing was = Standing::settled, is = Standing::settled;
    std::int64_t because = 0;  // for `never`: the job that it needs and that causes this
  };

  void add(std::int64_t job, JobState state);
  // Adds the dependency of `job` on `needed`. A repeated call has no effect. Both jobs must exist.
  // Jobs must not depend on each other in a circle.
  void need(std::int64_t job, std::int64_t needed);
  // Call it once all jobs and dependencies are added. Returns the standing of each waiting job. If
  // the result names a job twice, the later entry counts.
  std::vector<Change> begin(const std::vector<std::int64_t>& jobs);

  // Sets the state of a job. Returns the changed standings of this job and of others. Each change
  // comes after the one that causes it.
  std::vector<Change> set_state(std::int64_t job, JobState state);
  Standing standing(std::int64_t job) const { return nodes_.at(job).standing; }

 private:
  struct Node {
    JobState state = JobState::waiting;
    Standing standing = Standing::settled;
    std::int64_t because = 0;
    std::size_t met = 0;  // the first `met` jobs of `needs` have succeeded
    std::vector<std::int64_t> needs, needed_by;
  };
  bool is_lost(const Node& node) const;
  void stand(Node& node);
  bool review(std::int64_t job, bool may_be_lost, std::vector<Change>& changes);

  std::unordered_map<std::int64_t, Node> nodes_;
};

}  // namespace lockstep
