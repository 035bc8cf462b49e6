#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "fakes/fake_probe.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct ImagineDevices : ::testing::Test {
  std::vector<Device> imagine(const std::string& spec) {
    return imagine_devices(spec, probe, {.cores = 16, .memory_bytes = 1 << 30}, nullptr, "/none");
  }
  std::string error(const std::string& spec) {
    return error_of([&] { imagine(spec); });
  }
  FakeProbe probe = fake_probe(0);
};

TEST_F(ImagineDevices, RepeatsThisMachinesFirstGpu) {
  probe = fake_probe(2, "Tesla T4", 7, 5);
  const auto devices = imagine("8");
  ASSERT_EQ(devices.size(), 8u);
  EXPECT_EQ(describe(devices[7]), "cuda:7 (Tesla T4)");
  EXPECT_EQ(devices[7].threads, 2);
}

TEST_F(ImagineDevices, TakesAnH100WithoutAGpu) {
  const auto devices = imagine("8");
  ASSERT_EQ(devices.size(), 8u);
  EXPECT_EQ(devices[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(devices[0].memory_bytes, std::uint64_t{81559} << 20);
  EXPECT_EQ(devices[0].compute_major, 9);
}

TEST_F(ImagineDevices, KnowsCommonGpusHoweverTheyAreWritten) {
  for (const char* spec : {"2xT4", "2xt4", "2X T4", " 2xT4 ", "T4x2", "T4 x2", "t4 X 2",
                           "2x Tesla T4", "GPU T4 x 2", "GPUT4x2", "gpu T4 x2"}) {
    const auto devices = imagine(spec);
    ASSERT_EQ(devices.size(), 2u) << spec;
    EXPECT_EQ(devices[1].name, "Tesla T4") << spec;
    EXPECT_EQ(devices[1].compute_minor, 5) << spec;
  }
  EXPECT_EQ(imagine("1xrtx 4090")[0].name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(imagine("RTX 4090").size(), 1u) << "no count at its end";
  EXPECT_EQ(imagine("2xNVIDIA A100-SXM4-40GB")[1].memory_bytes, std::uint64_t{40} << 30);
  EXPECT_EQ(imagine("1xA100-40GB")[0].memory_bytes, std::uint64_t{40} << 30);
}

TEST_F(ImagineDevices, TakesAnyGpuOfAMemorySize) {
  const auto devices = imagine("4x80GB");
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(devices[3].memory_bytes, std::uint64_t{80} << 30);
  EXPECT_EQ(describe(devices[3]), "cuda:3 (80 GB GPU)");
}

TEST_F(ImagineDevices, TakesSeveralKindsInOneList) {
  const auto devices = imagine("2xT4, 1xh100,A100");
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(describe(devices[1]), "cuda:1 (Tesla T4)");
  EXPECT_EQ(describe(devices[2]), "cuda:2 (NVIDIA H100 80GB HBM3)");
  EXPECT_EQ(devices[3].index, 3);
  for (const Device& device : devices) EXPECT_EQ(device.threads, 4);
}

TEST_F(ImagineDevices, NamesThePartOfAListThatIsUnknown) {
  EXPECT_THAT(error("2xT4,1xH10O"), HasSubstr("unknown GPU \"H10O\"; did you mean H100?"));
  EXPECT_THAT(error("2xT4,0xH100"), HasSubstr("but is \"0xH100\""));
  EXPECT_THAT(error("2xT4,cpu:2"), HasSubstr("\"cpu:2\" of --devices 2xT4,cpu:2 is not"));
  EXPECT_THAT(error("2xT4,"), HasSubstr("\"\" of --devices 2xT4, is not"));
  EXPECT_THAT(error("4000xT4,4000xT4"), HasSubstr("but is \"4000xT4,4000xT4\""));
}

TEST_F(ImagineDevices, TakesCpusAndRealDevicesAsTheyAre) {
  EXPECT_EQ(imagine("cpu:4").size(), 4u);
  EXPECT_EQ(imagine("all").size(), 2u);
  probe = fake_probe(4);
  EXPECT_EQ(imagine("all").size(), 4u);
  EXPECT_EQ(imagine("1,3")[1].uuid, probe.present[3].uuid);
  EXPECT_EQ(imagine("0").size(), 1u) << "the first, as train takes it";
}

TEST_F(ImagineDevices, SaysWhichKindsItTakes) {
  for (const char* spec : {"cuda:0", "K80", "TPU v3-8", "GPU", "0,cuda:1"})
    EXPECT_THAT(error(spec), AllOf(HasSubstr(cat("unknown GPU \"", spec, "\"")),
                                   HasSubstr("as in 2xT4; known are P100, V100, T4, ")))
        << spec;
  for (const char* spec : {"0,1", "GPU-1234"})
    EXPECT_THAT(error(spec), AllOf(HasSubstr("there are none here"),
                                   HasSubstr("| say how many instead, as in --devices 2")))
        << spec;
  EXPECT_THAT(error("cpu:x"), HasSubstr("the number of CPU ranks"));
}

TEST_F(ImagineDevices, RefusesWhatCannotBe) {
  EXPECT_THAT(error("GPU P100"), HasSubstr("Tesla P100-PCIE-16GB is too old"));
  EXPECT_THAT(error("T4x0"), HasSubstr("the number of devices must be from 1 to"));
  EXPECT_THAT(error("0xT4"), HasSubstr("the number of devices must be from 1 to"));
  EXPECT_THAT(error("99999999999"), HasSubstr("the number of devices must be from 1 to"));
  EXPECT_THAT(error("2xH10O"),
              AllOf(HasSubstr("unknown GPU \"H10O\"; did you mean H100?"), HasSubstr("4x80GB")));
  EXPECT_THAT(error("2xP100"), HasSubstr("Tesla P100-PCIE-16GB is too old"));
  EXPECT_THAT(error("2x0GB"), HasSubstr("unknown GPU"));
}

}  // namespace
}  // namespace lockstep
