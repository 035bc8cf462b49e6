#include "recipes/gbdt/lightgbm/opencl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<OpenClPlatform> several = {{.name = "Portable Computing Language"},
                                             {.name = "NVIDIA CUDA"},
                                             {.name = "Intel(R) OpenCL"},
                                             {.name = "Intel(R) OpenCL Graphics"}};

std::string refusal(const std::vector<OpenClPlatform>& platforms, const std::string& asked) {
  try {
    choose_platform(platforms, asked);
  } catch (const Error& error) {
    return cat(error.what(), " | ", error.hint());
  }
  return "none";
}

TEST(OpenClPlatforms, NvidiasIsTakenAmongSeveralElseTheFirst) {
  EXPECT_EQ(choose_platform(several, ""), 1u);
  EXPECT_EQ(choose_platform({several[0], several[2]}, ""), 0u);
}

TEST(OpenClPlatforms, AreChosenByAPartOfTheirNameOrTheirNumber) {
  EXPECT_EQ(choose_platform(several, "portable"), 0u);
  EXPECT_EQ(choose_platform(several, "GRAPHICS"), 3u);
  EXPECT_EQ(choose_platform(several, "2"), 2u);
}

TEST(OpenClPlatforms, ANameThatFitsNoneOrSeveralIsRefusedWithThoseThatAreThere) {
  EXPECT_THAT(refusal(several, "amd"),
              AllOf(HasSubstr("gbdt.gpu_platform=amd names no OpenCL platform"),
                    HasSubstr("there are: 0 Portable Computing Language, 1 NVIDIA CUDA, 2 Intel")));
  EXPECT_THAT(refusal(several, "intel"), HasSubstr("names more than one OpenCL platform"));
  EXPECT_THAT(refusal(several, "4"), HasSubstr("gbdt.gpu_platform=4 names no"));
  EXPECT_THAT(refusal({}, ""), HasSubstr("there is no OpenCL platform on this machine"));
}

TEST(FindLightGbm, SaysHowToGetTheOneWithCuda) {
  try {
    find_lightgbm("", "cuda");
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("LightGBM with CUDA is not there"));
    EXPECT_THAT(error.hint(), HasSubstr("make lightgbm-cuda builds it"));
    return;
  }
  GTEST_SKIP() << "LightGBM with CUDA is here";
}

}  // namespace
}  // namespace lockstep::gbdt
