#include "tools/jobs/graph/job_order.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/glob.h"
#include "core/base/text/text.h"
#include "tools/jobs/job_names.h"

namespace lockstep {
namespace {

using Indices = std::vector<std::size_t>;

// Finds jobs by name, and caches the results.
class Names {
 public:
  Names(const std::vector<Job>& jobs, const std::vector<JobRange>& groups)
      : jobs_(jobs), groups_(groups) {
    by_name_.reserve(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) by_name_.emplace(jobs[i].name, i);
    for (const JobRange& group : groups)
      if (!group.name.empty()) by_group_[group.name].push_back(&group);
  }

  const Indices& find(const std::string& name) {
    const auto [at, is_new] = found_.try_emplace(name);
    if (is_new) at->second = look_up(name);
    return at->second;
  }

 private:
  Indices look_up(const std::string& name) const {
    Indices indices;
    if (const auto found = by_group_.find(name); found != by_group_.end())
      for (const JobRange* const group : found->second)
        for (std::size_t i = group->begin; i < group->end; ++i) indices.push_back(i);
    if (!indices.empty()) return indices;
    if (const auto job = by_name_.find(plain_job_name(name)); job != by_name_.end())
      return {job->second};
    if (name.find_first_of("*?") != name.npos)
      for (std::size_t i = 0; i < jobs_.size(); ++i)
        if (glob_matches(name, jobs_[i].name)) indices.push_back(i);
    if (indices.empty()) fail(name);
    return indices;
  }

  [[noreturn]] void fail(const std::string& name) const {
    constexpr std::size_t most_candidates = 10000;
    std::vector<std::string> known;
    for (const JobRange& group : groups_)
      if (!group.name.empty()) known.push_back(group.name);
    for (std::size_t i = 0; i < jobs_.size() && known.size() < most_candidates; ++i)
      known.push_back(jobs_[i].name);
    const std::string near = nearest(name, known);
    throw Error(cat("after names \"", name, "\", but no job and no group is called that"),
                near.empty() ? cat("the first job is called ", jobs_[0].name)
                             : cat("did you mean ", near, "?"));
  }

  const std::vector<Job>& jobs_;
  const std::vector<JobRange>& groups_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::unordered_map<std::string_view, std::vector<const JobRange*>> by_group_;
  std::unordered_map<std::string, Indices> found_;
};

// Finds all jobs for which one job waits, each once, and counts them.
void find_all(Names& index, const std::vector<std::string>& names, Indices& after,
              std::size_t& count) {
  for (const std::string& name : names) {
    const Indices& found = index.find(name);
    if ((count += found.size()) > most_dependencies)
      throw Error(cat("jobs wait for more than ", most_dependencies, " others in all"),
                  "put one job between the two groups: it waits for the first, and the second "
                  "waits for it");
    after.insert(after.end(), found.begin(), found.end());
  }
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
}

// Throws Error with the circle, such as "a -> b -> a". The middle of a long circle is left out.
[[noreturn]] void fail_circle(const std::vector<Job>& jobs, const Indices& path,
                              std::size_t closing) {
  const auto begin = std::find(path.begin(), path.end(), closing);
  std::vector<std::string> names;
  for (auto job = begin; job != path.end(); ++job) names.push_back(jobs[*job].name);
  constexpr std::size_t most_names = 10;
  if (names.size() > most_names) {
    names.erase(names.begin() + most_names / 2, names.end() - most_names / 2);
    names.insert(names.begin() + most_names / 2, "…");
  }
  names.push_back(jobs[closing].name);
  throw Error(cat("jobs wait for each other in a circle: ", join(names, " -> ")),
              "each arrow is an `after`: take one away");
}

// Searches depth-first without recursion, because a chain may be as long as the batch.
void check_circles(const std::vector<Job>& jobs, const std::vector<Indices>& after) {
  enum class State : char { fresh, on_path, done };
  std::vector<State> states(jobs.size(), State::fresh);
  for (std::size_t start = 0; start < jobs.size(); ++start) {
    Indices path;
    std::vector<std::size_t> nexts;  // for each job on the path, the index of its next dependency
    const auto enter = [&](std::size_t job) {
      states[job] = State::on_path;
      path.push_back(job);
      nexts.push_back(0);
    };
    if (states[start] == State::fresh) enter(start);
    while (!path.empty()) {
      const std::size_t job = path.back();
      if (nexts.back() == after[job].size()) {
        states[job] = State::done;
        path.pop_back();
        nexts.pop_back();
        continue;
      }
      const std::size_t next = after[job][nexts.back()++];
      if (states[next] == State::on_path) fail_circle(jobs, path, next);
      if (states[next] == State::fresh) enter(next);
    }
  }
}

}  // namespace

void resolve_after(std::vector<Job>& jobs, const std::vector<JobRange>& groups,
                   const std::vector<std::vector<std::string>>& names) {
  Names index(jobs, groups);
  std::vector<Indices> after(jobs.size());
  std::size_t count = 0;
  for (const JobRange& group : groups)
    for (std::size_t i = group.begin; i < group.end; ++i)
      at_place(group.place, [&] { find_all(index, names[i], after[i], count); });
  at_place(Place{groups[0].place.file}, [&] { check_circles(jobs, after); });
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].after.reserve(after[i].size());
    for (const std::size_t other : after[i]) jobs[i].after.push_back(jobs[other].key);
  }
}

}  // namespace lockstep
