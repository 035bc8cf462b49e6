#include "tools/jobs/graph/attempt_groups.h"

#include <algorithm>
#include <system_error>

#include "core/base/text/text.h"
#include "tools/jobs/process/cgroup.h"

namespace lockstep {
namespace fs = std::filesystem;

namespace {

std::string attempt_in(const std::string& mark) { return mark.substr(mark.find(':') + 1); }

}  // namespace

AttemptGroups::AttemptGroups(Ledger& ledger, const std::string& batch_id) : batch_id_(batch_id) {
  for (const std::string& place : split(ledger.fact("cgroups"), '\n'))
    if (fs::path(place).filename() == "lockstep-" + batch_id_) places_.emplace_back(place);
}

void AttemptGroups::begin(Ledger& ledger) {
  remove_empty();
  const CgroupPlace found = find_cgroup_place("lockstep-" + batch_id_);
  place_ = found.folder;
  if (!place_.empty() && std::find(places_.begin(), places_.end(), place_) == places_.end())
    places_.push_back(place_);
  std::vector<std::string> names;
  for (const fs::path& place : places_) names.push_back(place.string());
  ledger.set_fact("cgroups", join(names, "\n"));
  ledger.set_fact("clean-up", place_.empty() ? cat("mark: ", found.why_not)
                                             : cat("control group: ", place_.string()));
}

std::vector<fs::path> AttemptGroups::groups_of(const std::string& mark) const {
  std::vector<fs::path> groups;
  std::error_code ignored;
  for (const fs::path& place : places_)
    if (fs::path group = place / attempt_in(mark); fs::exists(group, ignored))
      groups.push_back(std::move(group));
  return groups;
}

std::string AttemptGroups::of(const std::string& mark) const {
  return place_.empty() ? "" : (place_ / attempt_in(mark)).string();
}

bool AttemptGroups::is_alive(const std::string& mark) const {
  const std::vector<fs::path> groups = groups_of(mark);
  return std::any_of(groups.begin(), groups.end(), is_populated);
}

void AttemptGroups::kill(const std::string& mark) const {
  for (const fs::path& group : groups_of(mark)) kill_cgroup(group);
}

std::set<pid_t> AttemptGroups::signal(const std::string& mark, int number) const {
  std::set<pid_t> told;
  for (const fs::path& group : groups_of(mark)) told.merge(signal_cgroup(group, number));
  return told;
}

void AttemptGroups::remove(const std::string& mark) const {
  for (const fs::path& group : groups_of(mark)) remove_cgroup(group);
}

void AttemptGroups::remove_empty() {
  std::erase_if(places_, [](const fs::path& place) { return remove_cgroup(place); });
}

std::vector<std::string> AttemptGroups::marks() const {
  std::vector<std::string> found;
  for (const fs::path& place : places_) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(place, ignored))
      if (entry.is_directory(ignored))
        found.push_back(cat(batch_id_, ":", entry.path().filename().string()));
  }
  return found;
}

}  // namespace lockstep
