// Lists the keys of a job file, and reads their values into a group of jobs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/toml_tree.h"
#include "tools/jobs/job_group.h"

namespace lockstep {

// The objects into which the values of keys are read.
struct JobKeyTarget {
  JobGroup group;
  BatchLimits limits;
  std::filesystem::path folder;  // folder of the job file, to which relative files are relative
  bool command_is_text = false;  // whether the command is a text instead of a list
};

struct JobKey {
  std::string key;
  std::string meaning;
  bool top_only = false;
  void (*read)(const JobKey&, const detail::TomlNode&, JobKeyTarget&);
};

const std::vector<JobKey>& job_keys();

// Reads the value of one key of a table. Throws Error, which names file and line, if the key or its
// value is not valid.
void read_job_key(const std::string& key, const detail::TomlNode& node, JobKeyTarget& target);

}  // namespace lockstep
