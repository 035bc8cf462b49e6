// Groups of runs, such as repeats of one configuration with different seeds.
#pragma once

#include "runtime/run/folder/run_dir.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

// The member of run.json that names the run's group.
inline constexpr const char* group_key = "group";

// Puts a run into a group, by writing the member "group" of its run.json.
void join_group(const RunDir& run, const std::string& group);
// The group of a run. Empty if the run has no group, or if its run.json cannot be read.
std::string group_of_run(const RunDir& run);

// The runs in `root` that belong to the group, in the order of their start times.
std::vector<RunDir> runs_of_group(const std::filesystem::path& root, const std::string& group);

// The names of the groups of all runs in `root`, without duplicates.
std::vector<std::string> list_groups(const std::filesystem::path& root);

}  // namespace lockstep
