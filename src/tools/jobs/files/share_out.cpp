#include "tools/jobs/files/share_out.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lockstep {
namespace {

using Places = std::vector<std::size_t>;

// The dependencies of each job, as indexes.
std::vector<Places> needs_of(const std::vector<Job>& jobs) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < jobs.size(); ++i) places.emplace(jobs[i].key, i);
  std::vector<Places> needs(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i)
    for (const std::string& key : jobs[i].after)
      if (const auto found = places.find(key); found != places.end())
        needs[i].push_back(found->second);
  return needs;
}

std::size_t root_of(Places& parents, std::size_t job) {
  while (parents[job] != job) job = parents[job] = parents[parents[job]];
  return job;
}

// Groups of jobs that depend on each other. The key is the first job of the group.
std::map<std::size_t, Places> groups_of(const std::vector<Places>& needs) {
  Places parents(needs.size());
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  for (std::size_t job = 0; job < needs.size(); ++job)
    for (const std::size_t need : needs[job]) {
      const std::size_t a = root_of(parents, job), b = root_of(parents, need);
      parents[std::max(a, b)] = std::min(a, b);
    }
  std::map<std::size_t, Places> groups;
  for (std::size_t job = 0; job < needs.size(); ++job) groups[root_of(parents, job)].push_back(job);
  return groups;
}

// The level of each job. It is 0 without dependencies, or else one more than the highest level
// among its dependencies.
Places levels_of(const std::vector<Places>& needs) {
  std::vector<Places> needed_by(needs.size());
  Places unmet(needs.size()), levels(needs.size(), 0), ready;
  for (std::size_t job = 0; job < needs.size(); ++job) {
    unmet[job] = needs[job].size();
    if (unmet[job] == 0) ready.push_back(job);
    for (const std::size_t need : needs[job]) needed_by[need].push_back(job);
  }
  while (!ready.empty()) {
    const std::size_t job = ready.back();
    ready.pop_back();
    for (const std::size_t other : needed_by[job]) {
      levels[other] = std::max(levels[other], levels[job] + 1);
      if (--unmet[other] == 0) ready.push_back(other);
    }
  }
  return levels;
}

std::size_t even_size(std::size_t jobs, std::size_t most) {
  const std::size_t shares = (jobs + most - 1) / most;
  return shares == 0 ? most : (jobs + shares - 1) / shares;
}

// Cuts a group that is too large for one share.
void cut_by_level(const Places& group, const Places& levels, std::size_t most,
                  std::vector<Places>& shares) {
  std::map<std::size_t, Places> by_level;
  for (const std::size_t job : group) by_level[levels[job]].push_back(job);
  for (const auto& [level, jobs] : by_level) {
    const std::size_t size = even_size(jobs.size(), most);
    for (std::size_t begin = 0; begin < jobs.size(); begin += size) {
      const auto first = jobs.begin() + static_cast<std::ptrdiff_t>(begin);
      shares.emplace_back(first,
                          first + static_cast<std::ptrdiff_t>(std::min(size, jobs.size() - begin)));
    }
  }
}

}  // namespace

std::vector<Places> share_out(const std::vector<Job>& jobs, std::size_t most) {
  const std::vector<Places> needs = needs_of(jobs);
  const std::map<std::size_t, Places> groups = groups_of(needs);
  const Places levels = levels_of(needs);
  std::size_t small = 0;
  for (const auto& [first, group] : groups)
    if (group.size() <= most) small += group.size();
  const std::size_t size = even_size(small, most);
  std::vector<Places> shares;
  Places filling;
  const auto close = [&] {
    std::sort(filling.begin(), filling.end());
    if (!filling.empty()) shares.push_back(std::exchange(filling, {}));
  };
  for (const auto& [first, group] : groups) {
    if (group.size() > most) {
      cut_by_level(group, levels, most, shares);
      continue;
    }
    if (filling.size() + group.size() > size) close();
    filling.insert(filling.end(), group.begin(), group.end());
  }
  close();
  return shares;
}

}  // namespace lockstep
