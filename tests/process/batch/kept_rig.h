// Batches of a Python program whose workers are kept. Its first argument is Python that runs as the
// job, its second the job's number.
#pragma once

#include <string>
#include <vector>

#include "base/text.h"
#include "batch_rig.h"

namespace lockstep {

class KeptRig : public BatchRig {
 protected:
  explicit KeptRig(const char* script) {
    std::filesystem::copy(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "examples/batch/next_job.py",
                          folder.path());
    std::ofstream(folder.path() / "worker.py") << script;
  }
  Words words(const std::string& script, int jobs, Words flags = {}) {
    flags.insert(flags.end(), {"--workers", "kept"});
    if (std::find(flags.begin(), flags.end(), "--slots") == flags.end())
      flags.insert(flags.end(), {"--slots", "1"});
    Words command{"python3", "worker.py", script, "{1}", ":::"};
    for (int job = 1; job <= jobs; ++job) command.push_back(std::to_string(job));
    return run_words(flags, command);
  }
  testing::ToolResult run_kept(const std::string& script, int jobs, const Words& flags = {}) {
    return run(words(script, jobs, flags));
  }
  std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> all = split(text(name), '\n');
    if (!all.empty() && all.back().empty()) all.pop_back();
    return all;
  }
  std::size_t loads() const { return lines("loads").size(); }
  std::string log(int job, int attempt = 1) {
    return text(cat("runs/b/logs/1=", job, ".", attempt, ".log"));
  }
};

}  // namespace lockstep
