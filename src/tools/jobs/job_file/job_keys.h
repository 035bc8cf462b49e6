// The keys of a job file: their meaning, and how their values enter a group.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/toml_tree.h"
#include "tools/jobs/job_group.h"

namespace lockstep {

// The destination of a key's value.
struct JobKeyTarget {
  JobGroup group;
  BatchLimits limits;
  std::filesystem::path folder;  // folder of the job file
  bool command_is_text = false;  // text, not a list
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
