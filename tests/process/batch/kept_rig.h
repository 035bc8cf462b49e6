// Batches of a Python program whose workers are kept. Its first argument is Python that runs as the
// job, its second the job's number.
#pragma once

#include <string>
#include <vector>

#include "batch_rig.h"
#include "core/base/text/text.h"

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
  // Runs so many jobs and cancels the second once it runs.
  void cancel_second(const std::string& script, int jobs) {
    testing::ToolProcess tool = begin(words("put('ran', sys.argv[2]);" + script, jobs));
    ASSERT_TRUE(comes([&] { return lines("ran").size() == 2; }));
    EXPECT_EQ(run({"batch", "cancel", "b", "2"}).code, 0);
    tool.wait();
    EXPECT_EQ(jobs_in("cancelled"), 1);
    EXPECT_EQ(jobs_in("done"), jobs - 1);
  }
  // `leave` writes a line with the id of a process that outlives its job to `left`; of three jobs
  // none finds one of those before.
  void expect_gone_before_the_next(const std::string& leave) {
    const testing::ToolResult result = run_kept(
        leave +
            "put('still', sum(os.path.exists(f'/proc/{p.strip()}') for p in open(home + '/left')) "
            "- 1)",
        3);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(lines("still"), ::testing::Each("0"));
    EXPECT_THAT(survivors(), ::testing::IsEmpty());
  }
  static constexpr const char* leave_a_child =
      "left = subprocess.Popen(['sleep', '1000'], start_new_session=True); put('left', left.pid);";
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
