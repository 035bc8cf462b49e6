// What precision = auto becomes on which devices, and what the plan says of it.
#include "planning/precision.h"

#include "core/base/error.h"
#include "plan_fixtures.h"
#include "planning/run_setup.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

Device gpu(const std::string& name, int major, int minor) {
  Device device = gpus(1)[0];
  device.name = name;
  device.compute_major = major;
  device.compute_minor = minor;
  return device;
}

const Device h100 = gpu("NVIDIA H100 80GB HBM3", 9, 0), a100 = gpu("NVIDIA A100", 8, 0),
             t4 = gpu("Tesla T4", 7, 5), unknown = gpu("GPU", 0, 0);

struct Resolved {
  Precision precision;
  std::string text;
};

Resolved resolve(const std::vector<Device>& devices, bool low_precision = true,
                 Precision asked = Precision::automatic) {
  TrainOptions options;
  options.precision = asked;
  resolve_precision(options, low_precision, devices);
  return {options.precision, precision_text(plan_precision(options, devices))};
}

TEST(AutomaticPrecision, IsTheShortestThatAllDevicesHave) {
  EXPECT_EQ(resolve({h100}).precision, Precision::bf16);
  EXPECT_EQ(resolve({a100, h100}).precision, Precision::bf16);
  EXPECT_EQ(resolve({t4, t4}).precision, Precision::fp16);
  EXPECT_EQ(resolve({h100, t4}).precision, Precision::fp16);
  EXPECT_EQ(resolve(cpu_ranks(2)).precision, Precision::fp32);
  EXPECT_EQ(resolve({h100, unknown}).precision, Precision::fp32);
}

TEST(AutomaticPrecision, SaysWhatDecided) {
  EXPECT_EQ(resolve({h100, h100}).text, "bf16: all GPUs have it natively (precision = auto)");
  EXPECT_EQ(
      resolve({h100, t4}).text,
      "fp16 with loss scaling: cuda:0 (Tesla T4) is sm_75 and has no bf16 (precision = auto)");
  EXPECT_EQ(resolve(cpu_ranks(1)).text,
            "fp32: shorter types are slower on most CPUs (precision = auto)");
}

TEST(AutomaticPrecision, IsFp32ForARecipeThatDoesNotSayThatItCanDoWithLess) {
  const Resolved resolved = resolve({h100}, false);
  EXPECT_EQ(resolved.precision, Precision::fp32);
  EXPECT_TRUE(contains(resolved.text, "the recipe does not say"));
}

TEST(AutomaticPrecision, LeavesAloneWhatWasAskedFor) {
  const Resolved resolved = resolve({h100}, true, Precision::fp16);
  EXPECT_EQ(resolved.precision, Precision::fp16);
  EXPECT_EQ(resolved.text, "fp16 with loss scaling");
}

class PrecisionNotes : public ::testing::Test {
 protected:
  PrecisionNotes() { options.stop.steps = 10; }
  Plan make() const { return make_plan(options, text_facts(), {}, devices); }
  TrainOptions options;
  std::vector<Device> devices{h100};
};

TEST_F(PrecisionNotes, SayThatFp32GoesWithoutTf32) {
  options.precision = Precision::fp32;
  EXPECT_TRUE(has_note(make(), "fp32 without TF32"));
  options.matmul.tf32 = true;
  EXPECT_FALSE(has_note(make(), "fp32 without TF32"));
  EXPECT_TRUE(make().precision.tf32);
  EXPECT_TRUE(contains(precision_text(make().precision), "products in TF32"));
  devices = {t4};
  EXPECT_FALSE(make().precision.tf32);
  EXPECT_TRUE(has_note(make(), "matmul.tf32 changes nothing: not all devices have TF32"));
  options.matmul.tf32 = false;
  EXPECT_FALSE(has_note(make(), "TF32"));
  devices = {h100};
  options.precision = Precision::bf16;
  EXPECT_FALSE(has_note(make(), "TF32"));
  options.matmul.tf32 = true;
  EXPECT_TRUE(has_note(make(), "matmul.tf32 changes nothing: products are in bf16"));
}

TEST_F(PrecisionNotes, SayThatGradientsInBf16AreAddedInSoftwareOnOldGpus) {
  options.precision = Precision::fp16;
  options.reduce_precision = ReducePrecision::bf16;
  devices = {t4, t4};
  EXPECT_TRUE(has_note(make(), "they round and add it in software"));
  devices = {h100, h100};
  EXPECT_FALSE(has_note(make(), "in software"));
  devices = {t4};
  EXPECT_FALSE(has_note(make(), "in software")) << "nothing is added up";
}

TEST_F(PrecisionNotes, SayHowFarGradientsAgree) {
  devices = {h100, h100};
  options.precision = Precision::fp32;
  EXPECT_TRUE(has_note(make(), "gradients agree to about 1e-6 of their size in fp32"));
  options.matmul.tf32 = true;
  EXPECT_TRUE(has_note(make(), "gradients agree within the rounding of TF32"));
  options.precision = Precision::bf16;
  EXPECT_TRUE(has_note(make(), "gradients agree within the rounding of bf16"));
}

// On CPUs that holds for equal threads alone, and one rank has those of all.
TEST_F(PrecisionNotes, SayThatThreadsOfCpuRanksRoundToo) {
  options.precision = Precision::fp32;
  devices = cpu_ranks(2);
  EXPECT_TRUE(has_note(make(),
                       "with the same number of threads per rank (OMP_NUM_THREADS, now 2) "
                       "gradients agree to about 1e-6 of their size in fp32"));
  EXPECT_TRUE(has_note(make(), "another number rounds inside the model too"));
  devices = gpus(2);
  EXPECT_FALSE(has_note(make(), "threads per rank"));
}

TEST_F(PrecisionNotes, WarnOfShortTypesOnCpus) {
  devices = cpu_ranks(2);
  options.precision = Precision::bf16;
  EXPECT_TRUE(has_note(make(), "warning: bf16 is slower than fp32 on most CPUs"));
  options.precision = Precision::fp32;
  EXPECT_FALSE(has_note(make(), "slower"));
}

TEST(PrecisionRecord, HoldsWhatTheDevicesWere) {
  const Device read = device_from_json(to_json(t4));
  EXPECT_EQ(read.compute_major, 7);
  EXPECT_EQ(read.compute_minor, 5);
  nlohmann::json old = to_json(t4);
  old.erase("compute_capability");
  EXPECT_EQ(device_from_json(old).compute_major, 0);
}

}  // namespace
}  // namespace lockstep
