// Peaks are those of the very GPU, or unknown.
#include "core/devices/gpus/gpu_peaks.h"

#include <gtest/gtest.h>

#include <string>

#include "core/devices/gpus/gpu_catalogue.h"
#include "core/devices/gpus/gpu_support.h"

namespace lockstep {
namespace {

Device gpu(const std::string& name, std::uint64_t memory_mib = 0) {
  return {
      .kind = DeviceKind::cuda, .uuid = "GPU-1", .name = name, .memory_bytes = memory_mib << 20};
}

std::optional<double> tflops(const std::string& name, ComputeType type = ComputeType::bf16,
                             std::uint64_t memory_mib = 0) {
  const auto peak = peak_flops(gpu(name, memory_mib), type);
  return peak ? std::optional(*peak / 1e12) : std::nullopt;
}

TEST(GpuPeaks, AreDenseAndDependOnTheType) {
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA H200"), 989.4);
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA H200", ComputeType::fp16), 989.4);
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA H200", ComputeType::fp32), 66.9);
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA A100-SXM4-80GB"), 312);
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA A100-SXM4-80GB", ComputeType::tf32), 156);
  EXPECT_FALSE(tflops("Tesla T4", ComputeType::tf32));
  EXPECT_DOUBLE_EQ(*tflops("Tesla T4", ComputeType::fp16), 65);
}

TEST(GpuPeaks, TellGpusOfOneFamilyApart) {
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA H100 80GB HBM3"), 989.4);
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA H100 PCIe"), 756);
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA H100 NVL"), 835.5);
  EXPECT_NE(tflops("NVIDIA L40"), tflops("NVIDIA L40S"));
  EXPECT_NE(tflops("NVIDIA A10"), tflops("NVIDIA A10G"));
}

TEST(GpuPeaks, AreUnknownForNamesThatOnlyLookAlike) {
  for (const char* name :
       {"", "NVIDIA", "NVIDIA H100", "H100", "NVIDIA H100 80GB HBM2e", "NVIDIA H100 80GB HBM3 ",
        "nvidia h200", "NVIDIA H200 MIG 1g.18gb", "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA A100-40C", "GRID T4-16Q", "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 2070", "80 GB GPU"})
    for (const ComputeType type : {ComputeType::fp32, ComputeType::bf16, ComputeType::fp16})
      EXPECT_FALSE(tflops(name, type)) << name;
}

TEST(GpuPeaks, AreUnknownForCpusAndPartsOfGpus) {
  Device device = gpu("NVIDIA H200");
  ASSERT_TRUE(peak_flops(device, ComputeType::bf16));
  device.uuid = "MIG-1";
  EXPECT_FALSE(peak_flops(device, ComputeType::bf16));
  device = {.kind = DeviceKind::cpu, .name = "CPU"};
  EXPECT_FALSE(peak_flops(device, ComputeType::fp32));
}

TEST(GpuPeaks, AreUnknownForTypesWithoutUnits) {
  EXPECT_FALSE(tflops("Tesla T4", ComputeType::bf16));
  EXPECT_FALSE(tflops("NVIDIA B200", ComputeType::fp32));
  EXPECT_TRUE(tflops("NVIDIA B200", ComputeType::bf16));
}

TEST(GpuPeaks, OfOneNameAreToldApartByMemory) {
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA GeForce RTX 3080", ComputeType::bf16, 10240), 59.5);
  EXPECT_DOUBLE_EQ(*tflops("NVIDIA GeForce RTX 3080", ComputeType::bf16, 12288), 61.3);
  EXPECT_FALSE(tflops("NVIDIA GeForce RTX 3080"));
}

TEST(GpuPeaks, KnowNamesWithoutTheMakerAsOlderDriversPrintThem) {
  EXPECT_EQ(tflops("GeForce RTX 3090"), tflops("NVIDIA GeForce RTX 3090"));
  EXPECT_EQ(tflops("A100-SXM4-40GB"), tflops("NVIDIA A100-SXM4-40GB"));
}

TEST(GpuPeaks, AreKnownForEveryGpuOfTheCatalogueThatCanTrain) {
  for (const GpuModel& model : gpu_catalogue())
    if (!too_old(model.compute_major, model.compute_minor)) {
      EXPECT_TRUE(tflops(std::string(model.name), ComputeType::fp16)) << model.name;
    }
}

TEST(GpuPeaks, AreOneARowWithTensorCoresFasterThanTheRest) {
  const auto all = gpu_peaks();
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_GE(all[i].half_tflops, 1.9 * all[i].fp32_tflops) << all[i].name;
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE(all[i].name != all[j].name || all[i].memory_gib != all[j].memory_gib)
          << all[i].name;
  }
}

}  // namespace
}  // namespace lockstep
