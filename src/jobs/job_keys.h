// The keys of a job file: what each means, and how its value becomes a part of a group.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/toml_tree.h"
#include "jobs/job_group.h"

namespace lockstep {

// What a key's value goes into.
struct JobKeyTarget {
  JobGroup group;
  BatchLimits limits;
  std::filesystem::path folder;  // of the job file
  bool command_is_text = false;  // not a list
};

struct JobKey {
  std::string key;
  std::string meaning;
  bool top_only = false;
  void (*read)(const JobKey&, const detail::TomlNode&, JobKeyTarget&);
};

const std::vector<JobKey>& job_keys();

// Reads one member of a table. Throws Error, which names file and line.
void read_job_key(const std::string& key, const detail::TomlNode& node, JobKeyTarget& target);

}  // namespace lockstep
