#include "tools/jobs/process/ordered_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "core/base/files/fd.h"
#include "core/base/files/files.h"

namespace lockstep {
namespace {

class OrderedOutputTest : public ::testing::Test {
 protected:
  std::filesystem::path log(std::int64_t job) const {
    const std::filesystem::path path = folder_.path() / std::to_string(job);
    std::ofstream(path) << job << ";";
    return path;
  }
  std::string written() const { return read_file(file_); }

  TemporaryDirectory folder_;
  std::filesystem::path file_ = folder_.path() / "out";
  UniqueFd fd_{::open(file_.c_str(), O_WRONLY | O_CREAT, 0644)};
};

TEST_F(OrderedOutputTest, WaitsForJobsWithLowerNumbers) {
  OrderedOutput output({1, 2, 4}, fd_.get());
  output.ended(4, log(4));
  output.ended(2, log(2));
  EXPECT_EQ(written(), "");
  output.ended(1, log(1));
  EXPECT_EQ(written(), "1;2;4;");
}

TEST_F(OrderedOutputTest, TakesJobsThatCameLaterAndThoseThatRunAgain) {
  OrderedOutput output({1, 2}, fd_.get());
  output.ended(7, log(7));
  output.ended(1, log(1));
  output.ended(1, log(1));
  output.ended(2, folder_.path() / "printed-nothing");
  EXPECT_EQ(written(), "1;1;7;");
}

TEST_F(OrderedOutputTest, NothingWaitsForAJobThatWillNotRun) {
  OrderedOutput output({1, 2, 3, 4}, fd_.get());
  output.ended(3, log(3));
  output.ended(1, log(1));
  EXPECT_EQ(written(), "1;");
  output.will_not_run(2);
  EXPECT_EQ(written(), "1;3;");
  output.ended(2, log(2));  // a retry let it run
  EXPECT_EQ(written(), "1;3;2;");
}

TEST_F(OrderedOutputTest, OnceNothingMoreBeginsOnlyWhatRunsIsAwaited) {
  OrderedOutput output({1, 2, 3, 4, 5}, fd_.get());
  output.ended(4, log(4));
  output.await_only({3, 5});
  EXPECT_EQ(written(), "");
  output.ended(3, log(3));
  EXPECT_EQ(written(), "3;4;");
}

TEST_F(OrderedOutputTest, AtTheEndWhatIsOverIsShownWithoutTheRest) {
  OrderedOutput output({1, 2, 3}, fd_.get());
  output.ended(3, log(3));
  output.ended(2, log(2));
  output.finish();
  output.finish();
  EXPECT_EQ(written(), "2;3;");
}

TEST_F(OrderedOutputTest, WhereNothingCanBeWrittenItIsBroken) {
  const UniqueFd full(::open("/dev/full", O_WRONLY));
  OrderedOutput output({1, 2}, full.get());
  output.ended(1, log(1));
  EXPECT_TRUE(output.broken());
  output.ended(2, log(2));
}

}  // namespace
}  // namespace lockstep
