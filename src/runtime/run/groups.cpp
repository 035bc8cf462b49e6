#include "runtime/run/groups.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {

void join_group(const RunDir& run, const std::string& group) {
  nlohmann::json record = run.record();
  record[group_key] = group;
  run.write_record(record);
}

std::string group_of_run(const RunDir& run) {
  try {
    return text_or(run.record(), group_key, "");
  } catch (const Error&) {
    return "";
  }
}

std::vector<RunDir> runs_of_group(const std::filesystem::path& root, const std::string& group) {
  std::vector<RunDir> found;
  for (RunDir& run : list_runs(root))
    if (!group.empty() && group_of_run(run) == group) found.push_back(std::move(run));
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<std::string> list_groups(const std::filesystem::path& root) {
  std::set<std::string> groups;
  for (const RunDir& run : list_runs(root)) groups.insert(group_of_run(run));
  groups.erase("");
  return {groups.begin(), groups.end()};
}

}  // namespace lockstep
