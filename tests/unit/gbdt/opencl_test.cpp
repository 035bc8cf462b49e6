#include "recipes/gbdt/lightgbm/opencl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

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
  EXPECT_EQ(choose_platform(several, "Intel(R) OpenCL"), 2u) << "as errors propose it";
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

const OpenClPlatform mixed{.name = "Intel(R) OpenCL",
                           .devices = {{.name = "Xeon", .is_gpu = false}, {.name = "Iris"}}};
const OpenClPlatform cores{.name = "Portable Computing Language",
                           .devices = {{.name = "pthread", .is_gpu = false}}};

TEST(OpenClPlatforms, AreTakenWithAGpuBeforeThoseWithout) {
  EXPECT_EQ(choose_platform({cores, mixed}, ""), 1u);
  EXPECT_EQ(choose_platform({cores, several[2]}, ""), 0u);
}

TEST(OpenClDevices, AreGpusUnlessTheUserNamesThePlatform) {
  EXPECT_EQ(choose_device(mixed, "-1", false), 1u);
  EXPECT_EQ(choose_device(mixed, "1", false), 1u);
  EXPECT_EQ(choose_device(cores, "-1", true), 0u);
  EXPECT_EQ(choose_device(mixed, "0", true), 0u);
  EXPECT_THAT(error_of([] { choose_device(cores, "-1", false); }),
              AllOf(HasSubstr("gbdt.device=gpu needs a GPU, but the OpenCL device pthread of "
                              "Portable Computing Language is none"),
                    HasSubstr("gbdt.gpu_platform='Portable Computing Language' trains on")));
  EXPECT_THAT(error_of([] { choose_device(mixed, "0", false); }), HasSubstr("Xeon"));
  EXPECT_THAT(error_of([] { choose_device(mixed, "2", true); }),
              AllOf(HasSubstr("there is no device 2 on"), HasSubstr("it has Xeon, Iris;")));
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
