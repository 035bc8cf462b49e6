// --devices of a table is how many, never which.
#include "core/devices/device_counts.h"

#include "core/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::ElementsAre;

std::string refusal(const std::string& list, int available) {
  try {
    device_counts(list, available, "GPU");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceCounts, DoubleUpToAllByDefault) {
  EXPECT_THAT(device_counts("", 1, "GPU"), ElementsAre(1));
  EXPECT_THAT(device_counts("", 2, "GPU"), ElementsAre(1, 2));
  EXPECT_THAT(device_counts("", 6, "GPU"), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(device_counts("", 8, "GPU"), ElementsAre(1, 2, 4, 8));
}

TEST(DeviceCounts, AreSorted) { EXPECT_THAT(device_counts("4, 1", 8, "GPU"), ElementsAre(1, 4)); }

TEST(DeviceCounts, RefuseWhatIsNoNumberOfDevices) {
  for (const char* list : {"0", "0,1", "all", "GPU-1a", "1,,2", "2x", "-1"})
    EXPECT_THAT(refusal(list, 8), ::testing::HasSubstr("must be numbers of devices")) << list;
}

TEST(DeviceCounts, RefuseMoreThanThereAreAndOneTwice) {
  EXPECT_EQ(refusal("1,4", 2), "--devices 1,4 asks for 4 GPUs, but there are 2");
  EXPECT_EQ(refusal("2,2", 2), "--devices 2,2 gives 2 twice");
}

TEST(DeviceCounts, SayOfAnotherWordWhatItNeeds) {
  const auto hint = [](const std::string& list) -> std::string {
    try {
      device_counts(list, 8, "GPU");
    } catch (const Error& error) {
      return error.hint();
    }
    return "";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(hint("2xT4"), HasSubstr("`lockstep plan RECIPE --devices 2xT4` estimates"));
  EXPECT_THAT(hint("1, 2x T4"), HasSubstr("--devices 2xT4`"));
  EXPECT_THAT(hint("all"), HasSubstr("leave it out"));
  for (const char* list : {"gpu", "cuda:0", "GPU-1a", "0"})
    EXPECT_THAT(hint(list), HasSubstr("how many, not which")) << list;
}

TEST(DeviceCounts, QuoteWhatWasTyped) {
  try {
    device_counts("1,cpu:2", 8, "CPU rank", "cpu:1,cpu:2");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("but is \"cpu:1,cpu:2\""));
    EXPECT_EQ(error.hint(), "cpu: stands once, in front of all numbers: cpu:1,2");
  }
}

}  // namespace
}  // namespace lockstep
