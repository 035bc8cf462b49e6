// Job files and words as tests write them, and what they become.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/files/files.h"
#include "tools/jobs/job.h"
#include "tools/jobs/job_file/job_file.h"
#include "tools/jobs/job_file/job_words.h"

namespace lockstep {

// A folder with a job file and what lies beside it.
class JobFolder {
 public:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  JobList read(const std::string& text) const { return read_job_file(write("jobs.toml", text)); }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryDirectory folder_;
};

inline JobList read_jobs(const std::string& text) { return JobFolder().read(text); }

inline JobList read_words(const std::vector<std::string>& words,
                          const JobWordsOptions& options = {}, const std::string& input = "") {
  std::istringstream stream(input);
  return read_job_words(words, options, stream);
}

// The words of each command with spaces between.
inline std::vector<std::string> commands_of(const JobList& list) {
  std::vector<std::string> all;
  for (const Job& job : list.jobs) {
    std::string line;
    for (const std::string& word : job.command) line += (line.empty() ? "" : " ") + word;
    all.push_back(line);
  }
  return all;
}

inline std::vector<std::string> names_of(const JobList& list) {
  std::vector<std::string> all;
  for (const Job& job : list.jobs) all.push_back(job.name);
  return all;
}

}  // namespace lockstep
