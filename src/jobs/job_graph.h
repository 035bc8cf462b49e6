// Which jobs need which, and what follows for those that wait when one of them changes. Knows
// nothing of processes or of the ledger.
#pragma once

#include "jobs/ledger.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lockstep {

// How a job stands: settled where it does not wait (it runs or is over); ready where all that it
// needs has succeeded; never where one that it needs is over without success, or never runs itself.
enum class Standing { settled, waits, ready, never };

class JobGraph {
 public:
  struct Change {
    std::int64_t job = 0;
    Standing was = Standing::settled, is = Standing::settled;
    std::int64_t because = 0;  // of `never`: one that it needs
  };

  void add(std::int64_t job, JobState state);
  // Both must be there; twice is once. There must be no circle.
  void need(std::int64_t job, std::int64_t needed);
  // Once all is added: how each job that waits stands, in the order of `jobs`.
  std::vector<Change> begin(const std::vector<std::int64_t>& jobs);

  // What changed for this job and for others, each after what it depends on.
  std::vector<Change> set_state(std::int64_t job, JobState state);
  Standing standing(std::int64_t job) const { return nodes_.at(job).standing; }

 private:
  struct Node {
    JobState state = JobState::waiting;
    Standing standing = Standing::settled;
    std::int64_t because = 0;
    std::size_t met = 0;  // of `needs`, so many at the beginning have succeeded
    std::vector<std::int64_t> needs, needed_by;
  };
  bool is_lost(const Node& node) const;
  void stand(Node& node);
  bool review(std::int64_t job, bool may_be_lost, std::vector<Change>& changes);

  std::unordered_map<std::int64_t, Node> nodes_;
};

}  // namespace lockstep
