// Where init.from leads, and what is said where it leads nowhere.
#include "tools/cli/plan/first_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FirstWeights : public ::testing::Test {
 protected:
  FirstWeights() {
    setenv("TORCH_HOME", folder.path().c_str(), 1);
    std::filesystem::create_directories(folder.path() / "hub/checkpoints");
    write_file_atomic(downloaded(), "");
    train.run.root = (folder.path() / "runs").string();
  }
  ~FirstWeights() override { unsetenv("TORCH_HOME"); }
  std::filesystem::path downloaded() const {
    return folder.path() / "hub/checkpoints/resnet50-11ad3fa6.pth";
  }
  std::string refusal(const char* from) {
    train.init.from = from;
    return error_of([&] { find_first_weights(train); });
  }

  TemporaryDirectory folder;
  TrainOptions train;
};

TEST_F(FirstWeights, NamesTheFileThatPyTorchHasDownloaded) {
  EXPECT_THAT(refusal("resnet50"), HasSubstr("init.from=" + downloaded().string()));
  EXPECT_THAT(refusal("resnet50.pth"), HasSubstr("init.from=" + downloaded().string()));
  EXPECT_EQ(downloaded_weights("resnet5"), "");
  for (const char* other : {"resnet50.a1_in1k", "timm/resnet50", "runs/resnet50"})
    EXPECT_THAT(refusal(other), Not(HasSubstr(downloaded().string()))) << other;
}

TEST_F(FirstWeights, SaysOfTheNameOfAModelThatNothingIsDownloaded) {
  EXPECT_THAT(refusal("imagenet"), HasSubstr("nothing is downloaded"));
  EXPECT_THAT(refusal("microsoft/resnet-50"), HasSubstr("hf download microsoft/resnet-50 "));
  EXPECT_THAT(refusal("runs/base2"), HasSubstr("; `lockstep runs` lists the runs"));
  for (const char* file : {"weights/a.pth", "resnet18.pth", "https://host/resnet18.pth"})
    EXPECT_THAT(refusal(file),
                HasSubstr("| nothing is downloaded: give the file of the weights (lockstep help "
                          "pretrained weights); `lockstep runs` lists the runs"))
        << file;
}

}  // namespace
}  // namespace lockstep::cli
