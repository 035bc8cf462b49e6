// FLOPs of a step, the devices' peak, and MFU as a number or with the reason why not.
#include "planning/compute.h"

#include "plan_fixtures.h"
#include "planning/run_setup.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

class Compute : public ::testing::Test {
 protected:
  Compute() {
    facts.flops_per_sample = 1e12;
    options.precision = Precision::bf16;
    for (Device& device : devices) device.name = "NVIDIA H200";
  }
  ComputePlan make() const { return plan_compute(options, facts, 64, devices); }
  std::string text() const {
    Plan plan;
    plan.devices = devices;
    plan.compute = make();
    plan.unit = "tokens";
    plan.units_per_step = 64 * 512;
    plan.batch = batch;
    return compute_text(plan);
  }

  TrainOptions options;
  Facts facts = text_facts();
  std::vector<Device> devices = gpus(2);
  BatchPlan batch{.world_size = 2, .micro = 32, .global = 64};
};

TEST_F(Compute, IsBoundByTheRankThatHasMost) {
  batch = {.world_size = 2, .micro = 1, .global = 1};
  facts.flops_per_sample = 64e12;
  EXPECT_EQ(text(),
            "4.1 PFLOP a step of at most 1.98 PFLOP/s on 2 GPUs, so at most 7.92k tokens a second")
      << "the second computes padding";
}

TEST_F(Compute, AddsUpSamplesAndDevices) {
  const ComputePlan compute = make();
  EXPECT_DOUBLE_EQ(compute.flops_per_step, 64e12);
  EXPECT_DOUBLE_EQ(compute.peak_flops, 2 * 989.4e12);
  EXPECT_EQ(compute.mfu_unknown, "");
  EXPECT_EQ(text(),
            "64 TFLOP a step of at most 1.98 PFLOP/s on 2 GPUs, so at most 1.01M tokens a second");
}

TEST_F(Compute, MfuIsTheShareOfThePeak) {
  EXPECT_DOUBLE_EQ(*mfu(make(), 0.1), 64e12 / (0.1 * 2 * 989.4e12));
  for (const double no_time : {0.0, -1.0, std::nan("")}) EXPECT_FALSE(mfu(make(), no_time));
}

TEST_F(Compute, IsUnknownWhereItWouldBeMoreThanThePeak) { EXPECT_FALSE(mfu(make(), 0.01)); }

TEST_F(Compute, DependsOnThePrecision) {
  options.precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(make().peak_flops, 2 * 66.9e12);
  options.matmul.tf32 = true;
  EXPECT_DOUBLE_EQ(make().peak_flops, 2 * 66.9e12);  // not known to have it
  for (Device& device : devices) device.compute_major = 9;
  EXPECT_DOUBLE_EQ(make().peak_flops, 989.4e12);
  for (Device& device : devices) device.compute_major = 7;
  devices[0].name = devices[1].name = "Tesla T4";
  options.precision = Precision::fp16;
  EXPECT_DOUBLE_EQ(make().peak_flops, 2 * 65e12);
  options.precision = Precision::bf16;
  EXPECT_EQ(make().mfu_unknown, "no peak is known for Tesla T4 in bf16");
}

TEST_F(Compute, IsUnknownIfOneDeviceIs) {
  devices[1].name = "NVIDIA H300";
  const ComputePlan compute = make();
  EXPECT_EQ(compute.peak_flops, 0);
  EXPECT_FALSE(mfu(compute, 0.1));
  EXPECT_EQ(text(), "64 TFLOP a step; MFU unknown: no peak is known for NVIDIA H300 in bf16");
  devices[1].uuid = "MIG-1";
  EXPECT_EQ(make().mfu_unknown, "no peak is known for MIG instances");
  devices = cpu_ranks(2);
  EXPECT_EQ(make().mfu_unknown, "no peak is known for CPUs");
}

TEST_F(Compute, IsUnknownWithoutTheRecipesFlops) {
  facts.flops_per_sample = 0;
  const ComputePlan compute = make();
  EXPECT_FALSE(mfu(compute, 0.1));
  EXPECT_EQ(compute.mfu_unknown, "the recipe does not say how many FLOPs a sample takes");
  EXPECT_GT(compute.peak_flops, 0);
}

TEST_F(Compute, GoesThroughTheRecord) {
  const ComputePlan compute = make(), back = compute_from_json(to_json(compute));
  EXPECT_EQ(back.flops_per_step, compute.flops_per_step);
  EXPECT_EQ(back.peak_flops, compute.peak_flops);
  EXPECT_EQ(back.mfu_unknown, "");
  EXPECT_EQ(facts_from_json(to_json(facts)).flops_per_sample, 1e12);
}

TEST_F(Compute, UnknownNumbersAreNullInTheRecord) {
  devices = cpu_ranks(1);
  const nlohmann::json json = to_json(make());
  EXPECT_TRUE(json.at("peak_flops").is_null());
  EXPECT_FALSE(mfu(compute_from_json(json), 1));
}

TEST_F(Compute, OfAnOlderRecordIsUnknown) {
  const ComputePlan old = compute_from_json(nlohmann::json::object());
  EXPECT_FALSE(mfu(old, 1));
  EXPECT_NE(old.mfu_unknown, "");
  nlohmann::json json = to_json(facts);
  json.erase("flops_per_sample");
  EXPECT_EQ(facts_from_json(json).flops_per_sample, 0);
}

TEST_F(Compute, IsPartOfThePlan) {
  options.stop.steps = 10;
  const Plan plan = make_plan(options, facts, {}, devices);
  EXPECT_DOUBLE_EQ(plan.compute.flops_per_step, 64e12);
  EXPECT_TRUE(contains(to_text(plan, false), "compute        64 TFLOP a step of at most"));
  EXPECT_DOUBLE_EQ(to_json(plan).at("compute").at("peak_flops"), 2 * 989.4e12);
}

TEST(FormatFlops, HasThreeDigitsAndAPrefix) {
  EXPECT_EQ(format_flops(1.9788e15), "1.98 PFLOP");
  EXPECT_EQ(format_flops(999.6e9), "1 TFLOP");
  EXPECT_EQ(format_flops(12), "12 FLOP");
}

}  // namespace
}  // namespace lockstep
