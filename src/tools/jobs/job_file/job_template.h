// Parses the texts of a group once, and makes a job for each combination of parameters.
#pragma once

#include <string>
#include <vector>

#include "tools/jobs/job_file/placeholders.h"
#include "tools/jobs/job_group.h"

namespace lockstep {

class JobTemplate {
 public:
  // Throws Error for placeholders without a value, and for {gpu} if the group requests no GPU.
  // `group` must outlive the template.
  explicit JobTemplate(const JobGroup& group);

  // Makes a job without its key, kind and `after`. The name is empty if the group has no name and
  // no parameters.
  Job make(JobParameters parameters, std::int64_t number) const;

  // Whether the group's name has placeholders. Then this name alone, filled in, gives the names of
  // the jobs.
  bool names_jobs() const { return !name_.empty() && name_[0].uses_parameters(); }
  // Returns the group's name, filled in for this job, before characters that a file name may not
  // have are replaced. Call it only if names_jobs() returns true.
  std::string written_name(const Job& job) const;
  // Returns the names in `after`, filled in for this job.
  std::vector<std::string> after(const Job& job) const;
  bool has_after() const { return !after_.empty(); }

 private:
  using Texts = std::vector<TextTemplate>;
  Texts parse(const std::vector<std::string>& texts, const PlaceholderScope& scope) const;
  void check_gpu(const Texts& texts) const;
  std::vector<std::string> command(const Job& job) const;
  std::string folder(const Job& job) const;
  std::string name(const Job& job) const;

  const JobGroup& group_;
  std::string base_;  // JobGroup::base with doubled braces where necessary
  // pairs of a parameter and the environment variable with its value
  std::vector<std::pair<std::string, std::string>> variables_;
  Texts command_, environment_, folder_, outputs_, name_, after_;
};

}  // namespace lockstep
