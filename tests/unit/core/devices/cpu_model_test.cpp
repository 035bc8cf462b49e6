// The name of a CPU from files like /proc/cpuinfo.
#include "core/devices/cpu_model.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/files/files.h"

namespace lockstep {
namespace {

std::string model_of(const std::string& text) {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "cpuinfo") << text;
  return cpu_model_of(folder.path() / "cpuinfo");
}

TEST(CpuModel, IsTheNameThatTheKernelGives) {
  EXPECT_EQ(model_of("processor\t: 0\nvendor_id\t: X\nmodel\t\t: 143\nmodel name\t: Xeon 8481C\n\n"
                     "processor\t: 1\nmodel name\t: Other\n"),
            "Xeon 8481C");
}

TEST(CpuModel, IsMadeOfPartNumbersWhereThereIsNoName) {
  EXPECT_EQ(model_of("processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x1\nCPU part\t: "
                     "0xd40\n"),
            "CPU 0x41/0xd40");
}

TEST(CpuModel, IsEmptyWhereNothingIsTold) {
  EXPECT_EQ(model_of("processor: 0\n"), "");
  EXPECT_EQ(cpu_model_of("/nowhere/cpuinfo"), "");
}

}  // namespace
}  // namespace lockstep
