// The job files that come along can be read, and say what their comments say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "checkout_paths.h"
#include "core/base/text/text.h"
#include "job_fixtures.h"
#include "tools/jobs/job_file/job_keys.h"

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

namespace fs = std::filesystem;

const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "examples/batch";

std::size_t jobs_in(const std::string& file) { return read_job_file(folder / file).jobs.size(); }

TEST(ExampleJobFiles, HaveTheJobsThatTheyPromise) {
  EXPECT_EQ(jobs_in("every_key.toml"), 2u * 5 * 4 + 1);
  EXPECT_EQ(jobs_in("lightgbm.toml"), 12u);
  EXPECT_EQ(jobs_in("xgboost.toml"), 16u);
  EXPECT_EQ(jobs_in("catboost.toml"), 5u);
  EXPECT_EQ(jobs_in("python.toml"), 6u);
  EXPECT_EQ(jobs_in("textgen.toml"), 12u);
  EXPECT_EQ(jobs_in("steps.toml"), 10u);
  EXPECT_EQ(jobs_in("kept.toml"), 40u);
}

TEST(ExampleJobFiles, AreAllTried) {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".toml") files.insert(entry.path().filename().string());
  EXPECT_THAT(files, SizeIs(8)) << "add new ones to HaveTheJobsThatTheyPromise";
}

TEST(ExampleJobFiles, OneOfThemHasEveryKey) {
  const std::string text = "\n" + read_file(folder / "every_key.toml");
  for (const JobKey& key : job_keys())
    EXPECT_TRUE(text.find(cat("\n", key.key, " = ")) != text.npos ||
                text.find(cat("\n[", key.key, "]")) != text.npos)
        << key.key;
}

TEST(ExampleJobFiles, TheGuideNamesEveryKey) {
  const std::string text = read_file(fs::path(LOCKSTEP_SOURCE_DIR) / "docs/guide/batch.md");
  for (const JobKey& key : job_keys())
    EXPECT_NE(text.find(cat("| `", key.key, "` |")), text.npos) << key.key;
}

TEST(ExampleJobFiles, StepsWaitForEachOther) {
  const std::vector<Job> jobs = read_job_file(folder / "steps.toml").jobs;
  EXPECT_THAT(jobs[0].after, IsEmpty());
  EXPECT_THAT(jobs[3].after, ElementsAre(jobs[0].key));
  EXPECT_THAT(jobs[5].after, ElementsAre(jobs[1].key));
  EXPECT_THAT(jobs[9].after, SizeIs(6));
  EXPECT_EQ(jobs[9].name, "report");
}

}  // namespace
}  // namespace lockstep
