// Checks of every accepted list of jobs.
#pragma once

#include <set>
#include <string>

#include "core/base/error.h"
#include "core/base/json/json.h"
#include "fuzz.h"
#include "tools/jobs/job_file/placeholders.h"
#include "tools/jobs/job_json.h"
#include "tools/jobs/matrix/matrix.h"

namespace lockstep::fuzz {

// Words of the command line that are not UTF-8 are rejected here.
inline void check_json(const Job& job) {
  std::string text;
  try {
    text = job_json(job);
  } catch (const Error&) {
    return;
  }
  LOCKSTEP_CHECK(job_json(job_from_json(parse_json(text))) == text);
}

inline void check_job_list(const JobList& list) {
  std::set<std::string> names, keys;
  for (const Job& job : list.jobs) {
    LOCKSTEP_CHECK(names.insert(job.name).second);
    LOCKSTEP_CHECK(!job.name.empty() && job.name[0] != '.' && job.name[0] != '-');
    LOCKSTEP_CHECK(job.name.find('/') == std::string::npos && job.name.size() < 200);
    LOCKSTEP_CHECK(keys.insert(job.key).second && job.key.size() == 32);
  }
  std::int64_t number = 0;
  for (const Job& job : list.jobs) {
    LOCKSTEP_CHECK(job.number == ++number);
    LOCKSTEP_CHECK(!job.command.empty() && (!job.shell || job.command.size() == 1));
    for (const std::string& key : job.after) LOCKSTEP_CHECK(keys.contains(key) && key != job.key);
    check_json(job);
    const Job filled = fill_attempt(job, {.out = "/b/attempts/1", .attempt = 1});
    for (const std::string& output : filled.outputs) LOCKSTEP_CHECK(output.starts_with('/'));
  }
}

}  // namespace lockstep::fuzz
