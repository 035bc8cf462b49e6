#include "tools/jobs/graph/job_graph.h"

#include <algorithm>

namespace lockstep {

void JobGraph::add(std::int64_t job, JobState state) { nodes_[job].state = state; }

void JobGraph::need(std::int64_t job, std::int64_t needed) {
  std::vector<std::int64_t>& needs = nodes_.at(job).needs;
  if (std::find(needs.begin(), needs.end(), needed) != needs.end()) return;
  needs.push_back(needed);
  nodes_.at(needed).needed_by.push_back(job);
}

// Whether no job that needs this one can run.
bool JobGraph::is_lost(const Node& node) const {
  return (over(node.state) && !succeeded(node.state)) || node.standing == Standing::never;
}

// Updates the node's standing. A job may need thousands of others and is examined after each of
// them. Jobs that are known to have succeeded are therefore not examined again.
void JobGraph::stand(Node& node) {
  node.because = 0;
  if (node.state != JobState::waiting) {
    node.standing = Standing::settled;
    return;
  }
  while (node.met < node.needs.size() && succeeded(nodes_.at(node.needs[node.met]).state))
    ++node.met;
  node.standing = node.met == node.needs.size() ? Standing::ready : Standing::waits;
}

// may_be_lost: a job that it needs may be unable to succeed. Returns whether the job became one
// that can never run, or stopped being one.
bool JobGraph::review(std::int64_t job, bool may_be_lost, std::vector<Change>& changes) {
  Node& node = nodes_.at(job);
  const Standing was = node.standing;
  const std::int64_t because = node.because;
  stand(node);
  if (node.standing == Standing::waits && (may_be_lost || was == Standing::never))
    for (std::size_t i = node.met; i < node.needs.size(); ++i)
      if (is_lost(nodes_.at(node.needs[i]))) {
        node.standing = Standing::never;
        node.because = node.needs[i];
        break;
      }
  if (node.standing != was || node.because != because)
    changes.push_back({job, was, node.standing, node.because});
  return (node.standing == Standing::never) != (was == Standing::never);
}

std::vector<JobGraph::Change> JobGraph::begin(const std::vector<std::int64_t>& jobs) {
  std::vector<Change> changes;
  // Repeats until nothing changes, because a job may be listed before the jobs that it needs.
  for (bool again = true; again;) {
    again = false;
    for (const std::int64_t job : jobs) again = review(job, true, changes) || again;
  }
  return changes;
}

std::vector<JobGraph::Change> JobGraph::set_state(std::int64_t job, JobState state) {
  std::vector<Change> changes;
  Node& node = nodes_.at(job);
  const bool was_met = succeeded(node.state), was_lost = is_lost(node);
  node.state = state;
  review(job, true, changes);
  if (was_met == succeeded(state) && was_lost == is_lost(node)) return changes;
  std::vector<std::int64_t> changed{job};
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const Node& needed = nodes_.at(changed[i]);
    for (const std::int64_t other : needed.needed_by) {
      if (was_met && i == 0) nodes_.at(other).met = 0;
      if (review(other, is_lost(needed), changes)) changed.push_back(other);
    }
  }
  return changes;
}

}  // namespace lockstep
