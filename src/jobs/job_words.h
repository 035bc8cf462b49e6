// stub
#pragma once
#include <filesystem>
#include "base/hash.h"
#include "base/text.h"
#include "jobs/job.h"
namespace lockstep {
struct JobDefaults {
  double cpus = 1;
  GpuRequest gpus;
  int retries = 0;
  double retry_delay_s = 0;
  std::optional<double> timeout_s;
};
inline JobList jobs_from_words(const std::vector<std::string>& words, const JobDefaults& d) {
  JobList list;
  std::vector<std::string> command, values;
  bool after = false;
  for (auto& w : words) {
    if (w == ":::") {
      after = true;
      continue;
    }
    (after ? values : command).push_back(w);
  }
  if (!after) values.push_back("");
  for (auto& v : values) {
    Job j;
    j.number = (std::int64_t)list.jobs.size() + 1;
    j.name = cat(j.number, v.empty() ? "" : "=", v);
    j.command = command;
    bool used = false;
    for (auto& w : j.command) {
      auto p = w.find("{1}");
      if (p != w.npos) {
        w.replace(p, 3, v);
        used = true;
      }
    }
    if (!used && after) j.command.push_back(v);
    Hasher h;
    for (auto& w : j.command) {
      h.update(w);
      h.update("\0", 1);
    }
    h.update(cat(j.number));
    j.key = h.hex();
    j.folder = std::filesystem::current_path();
    j.cpus = d.cpus;
    j.gpus = d.gpus;
    j.retries = d.retries;
    j.retry_delay_s = d.retry_delay_s;
    j.timeout_s = d.timeout_s;
    list.jobs.push_back(j);
  }
  return list;
}
}  // namespace lockstep
