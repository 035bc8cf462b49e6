// How long a step takes and when several GPUs pay, beside what was measured: bench/results, and for
// BERT-base the times that its comments state.
#include "planning/step_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "plan_fixtures.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StepEstimateTest : public ::testing::Test {
 protected:
  // BERT-base, six passes of 128 tokens per sentence, in bf16 on two H200s.
  StepEstimateTest() {
    plan.devices = gpus(2);
    for (Device& device : plan.devices) device.compute_major = 9;
    plan.parameters = 109'000'000;
    plan.batch.world_size = 2;
    plan.batch.rows_per_sample = 6;
    sentences(1);
  }
  void sentences(std::int64_t count) {
    plan.batch.global = count;
    spread();
    plan.compute = {.flops_per_step = 0.4e12 * static_cast<double>(count),
                    .peak_flops = 989.4e12 * static_cast<double>(plan.devices.size())};
  }
  // In one micro-batch per device.
  void spread() {
    plan.batch.accumulation = 1;
    plan.batch.micro = (plan.batch.rows() - 1) / std::ssize(plan.devices) + 1;
  }
  std::optional<StepEstimate> gain() const { return estimate_step(plan, options, link); }
  std::string note() const {
    const int alone = plan.devices[gain()->fastest].index;
    return gain_warning(*gain(), plan, options, *link, std::to_string(alone));
  }

  Plan plan;
  TrainOptions options;
  std::optional<LinkLimit> link = LinkLimit{"NVLink", 450e9};
};

// 436 MB cost about 1.2 ms there, and the products of one sentence 1.1 ms.
TEST_F(StepEstimateTest, EstimatesWhatWasMeasured) {
  EXPECT_NEAR(gain()->exchange_s, 1.2e-3, 0.1e-3);
  EXPECT_NEAR(gain()->arithmetic_one_s, 1.2e-3, 0.1e-3);
  EXPECT_DOUBLE_EQ(gain()->arithmetic_s, gain()->arithmetic_one_s / 2);
}

// The kernels of one sentence take as long to begin on two: 4.00 ms on one as measured.
TEST_F(StepEstimateTest, ASmallModelWaitsForItsKernelsOnAnyNumberOfDevices) {
  EXPECT_DOUBLE_EQ(gain()->compute_one_s(), 2e-3);
  EXPECT_DOUBLE_EQ(gain()->compute_s(), 2e-3);
  EXPECT_GT(gain()->step_s(), 2e-3) << "and the gradients come on top";
  plan.devices = gpus(1);
  plan.batch.world_size = 1;
  sentences(1);
  ASSERT_TRUE(estimate_step(plan, options, std::nullopt));
  EXPECT_DOUBLE_EQ(estimate_step(plan, options, std::nullopt)->step_s(), 2e-3);
}

TEST_F(StepEstimateTest, SaysInALineWhatDevicesGain) {
  sentences(8);
  EXPECT_EQ(gain_text(*gain(), *link), "2 GPUs: 2 x the speed of one (estimated)");
  sentences(1);
  link = LinkLimit{.kind = "PCIe 3 x16", .bytes_per_s = 15.8e9, .is_assumed = true};
  EXPECT_EQ(gain_text(*gain(), *link),
            "2 GPUs: 0.057 x the speed of one (estimated, over PCIe 3 x16, which is assumed)");
  plan.devices = gpus(1);
  EXPECT_EQ(gain_text(*gain(), *link), "");
}

TEST_F(StepEstimateTest, TheSlowestOfMixedDevicesEndsTheStep) {
  plan.devices[1].name = "NVIDIA H100 80GB HBM3";
  plan.devices[1].index = 1;
  plan.precision.type = Precision::fp16;
  sentences(64);
  plan.compute.peak_flops = 65e12 + 989.4e12;
  EXPECT_EQ(gain()->fastest, 1U);
  EXPECT_NEAR(gain()->arithmetic_s, 32 * 0.4e12 / 65e12 * 3, 1e-6);
  EXPECT_NEAR(gain()->arithmetic_one_s, 64 * 0.4e12 / 989.4e12 * 3, 1e-6);
  EXPECT_THAT(note(), HasSubstr("one alone is faster at this batch: --devices 1"));
}

TEST_F(StepEstimateTest, SaysThatASecondGpuDoesNotPayAndFromWhichBatchOn) {
  EXPECT_LT(gain()->gain(), 1);
  EXPECT_THAT(note(), HasSubstr("2 GPUs do not pay at batch.global = 1"));
  EXPECT_THAT(note(), HasSubstr("instead of 2 ms on one"));
  EXPECT_THAT(note(), HasSubstr("416 MiB of gradients over NVLink takes about 1.2 ms"));
  EXPECT_THAT(note(), HasSubstr("they pay from about batch.global=3 on"));
  EXPECT_THAT(note(), HasSubstr("; one alone is faster at this batch: --devices 0"));
  sentences(2);
  EXPECT_THAT(note(), HasSubstr("2 GPUs hardly pay at batch.global = 2"));
  EXPECT_THAT(note(), HasSubstr("; one alone is about as fast at this batch: --devices 0"));
}

TEST_F(StepEstimateTest, NamesGradientsInBf16WhereTheyMakeItPayEarlier) {
  link = LinkLimit{"PCIe", 31.5e9};
  EXPECT_THAT(note(), HasSubstr("they pay from about batch.global=24 on; with "
                                "reduce_precision=bf16 they pay from about batch.global=12 on;"));
  sentences(16);
  EXPECT_THAT(note(), HasSubstr("; with reduce_precision=bf16 they pay here;"));
  for (Device& device : plan.devices) device.compute_major = 7;
  EXPECT_THAT(note(), Not(HasSubstr("reduce_precision"))) << "T4s have it in software alone";
  for (Device& device : plan.devices) device.compute_major = 9;
  options.reduce_precision = ReducePrecision::bf16;
  sentences(1);
  EXPECT_THAT(note(), Not(HasSubstr("reduce_precision")));
}

TEST_F(StepEstimateTest, NamesTheFirstBatchThatPaysWhateverBatchIsPlanned) {
  link = LinkLimit{"PCIe", 31.5e9};
  for (std::int64_t count = 1; count < 24; ++count) {
    sentences(count);
    EXPECT_THAT(note(), HasSubstr("; they pay from about batch.global=24 on")) << count;
  }
  for (const std::int64_t count : {24, 25, 100}) {
    sentences(count);
    EXPECT_EQ(note(), "") << count;
  }
}

// A further micro-batch hides less of the exchange and has padding, so a larger batch may pay less.
TEST_F(StepEstimateTest, EveryBatchFromTheFirstThatPaysOnPays) {
  link = LinkLimit{"PCIe", 31.5e9};
  for (const std::int64_t micro : {6, 9, 48, 66}) {
    options.batch.micro = micro;
    const auto plan_of = [&](std::int64_t count) {
      sentences(count);
      plan.batch.micro = micro;
      plan.batch.accumulation = (plan.batch.rows() / 2 - 1) / micro + 1;
    };
    const auto named = [&] {
      const std::string text = note(), words = "; they pay from about batch.global=";
      const std::size_t at = text.find(words);
      return at == std::string::npos ? 0 : std::stoll(text.substr(at + words.size()));
    };
    plan_of(1);
    const std::int64_t first = named();
    ASSERT_GT(first, 1) << micro;
    plan_of(first - 1);
    EXPECT_EQ(named(), first) << "this one does not pay yet, with micro-batches of " << micro;
    for (std::int64_t count = first; count < first + 200; ++count) {
      plan_of(count);
      EXPECT_EQ(note(), "") << count << " with micro-batches of " << micro;
    }
  }
}

// Others would be refused.
TEST_F(StepEstimateTest, NamesABatchOfWholeMicroBatches) {
  plan.batch.rows_per_sample = 1;
  plan.batch.global = 10;
  plan.batch.micro = options.batch.micro = 5;
  plan.compute.flops_per_step = 2e-3 / 3 * 989.4e12;  // 2 ms on one
  const std::string text = note(), words = "they pay from about batch.global=";
  ASSERT_NE(text.find(words), std::string::npos) << text;
  EXPECT_EQ(std::stoll(text.substr(text.find(words) + words.size())) % 10, 0) << text;
}

TEST_F(StepEstimateTest, SaysNothingWhereItPays) {
  for (const std::int64_t count : {4, 8, 64}) {
    sentences(count);
    EXPECT_EQ(note(), "") << count;
  }
  EXPECT_GT(gain()->gain(), 1.9);
}

// bench/results/dimabsa-2-h100.toml and dimabsa-h100.toml: 4.00, 4.92 and 11.15 ms on
// one, 4.85, 5.17 and 8.33 on two. Worth it is a quarter more.
TEST_F(StepEstimateTest, DecidesAsWasMeasuredAtFixedBatches) {
  struct Measured {
    std::int64_t sentences;
    double one_ms, two_ms;
  };
  for (const Measured& each : {Measured{1, 4.00, 4.85}, {2, 4.92, 5.17}, {8, 11.15, 8.33}}) {
    sentences(each.sentences);
    EXPECT_EQ(note().empty(), each.one_ms / each.two_ms >= 1.25) << each.sentences;
  }
}

TEST_F(StepEstimateTest, TakesHalfTheBytesInBf16) {
  const double whole = gain()->exchange_s;
  options.reduce_precision = ReducePrecision::bf16;
  EXPECT_DOUBLE_EQ(gain()->exchange_s, whole / 2);
}

// bench/results/scaling-h200.toml: 52.5 ms alone, 56.2 on two, each with the same rows.
TEST_F(StepEstimateTest, AgreesWithALargeModelOnTwo) {
  plan.parameters = 124'000'000;
  plan.batch.rows_per_sample = 1;
  plan.batch.global = 64;
  spread();
  plan.compute = {.flops_per_step = 2 * 32 * 1024.0 * 8.5e8, .peak_flops = 2 * 989.4e12};
  EXPECT_GT(gain()->gain(), 1.85);
  EXPECT_EQ(note(), "");
}

TEST_F(StepEstimateTest, CountsTheBusiestDevice) {
  plan.devices = gpus(4);
  plan.batch.world_size = 4;
  sentences(1);
  EXPECT_DOUBLE_EQ(gain()->arithmetic_s, gain()->arithmetic_one_s / 3) << "two of six rows";
}

// An episode that has to be whole: one GPU computes it, the other padding.
TEST_F(StepEstimateTest, CountsPaddingPlaces) {
  plan.batch.rows_per_sample = 1;
  sentences(1);
  EXPECT_DOUBLE_EQ(gain()->arithmetic_s, gain()->arithmetic_one_s);
  plan.batch.micro = 2;
  EXPECT_DOUBLE_EQ(gain()->arithmetic_s, 2 * gain()->arithmetic_one_s);
}

// One row per sample: a single sample keeps one device busy, and more of them all.
TEST_F(StepEstimateTest, SpreadsALargerBatchAnew) {
  plan.batch.rows_per_sample = 1;
  spread();
  plan.compute.flops_per_step = 50e-3 / 3 * 989.4e12;  // 50 ms on one
  EXPECT_DOUBLE_EQ(gain()->compute_s(), gain()->compute_one_s());
  EXPECT_THAT(note(), HasSubstr("they pay from about batch.global=2 on"));
}

TEST_F(StepEstimateTest, NamesNoBatchWhereNoneWouldPay) {
  link = LinkLimit{"PCIe", 1e6};
  EXPECT_THAT(note(), HasSubstr("takes about 545000 ms (estimated)"));
  EXPECT_THAT(note(), Not(HasSubstr("they pay")));
}

TEST_F(StepEstimateTest, SaysWhatIsAssumed) {
  link = LinkLimit{.kind = "PCIe 3 x16", .bytes_per_s = 15.8e9, .is_assumed = true};
  EXPECT_THAT(note(), HasSubstr("warning: 2 GPUs do not pay at batch.global = 1: "));
  EXPECT_THAT(note(), HasSubstr("over PCIe 3 x16, which is assumed, takes about 34 ms"));
  link->may_be_nvlink = true;
  EXPECT_THAT(note(),
              HasSubstr("whether 2 GPUs pay at batch.global = 1 depends on what joins them, "
                        "which is not known; over PCIe they do not: "));
  EXPECT_THAT(note(), HasSubstr("; there they pay from about batch.global="));
  EXPECT_THAT(note(), Not(HasSubstr("warning")));
  EXPECT_THAT(note(), Not(HasSubstr("--devices 0"))) << "over NVLink it may be slower";
}

TEST_F(StepEstimateTest, HidesTheExchangeInTheLastMicroBatchAlone) {
  sentences(64);
  const double once = gain()->step_s();
  plan.batch.accumulation = 64;
  plan.batch.micro /= 64;
  EXPECT_GT(gain()->step_s(), once);
}

TEST_F(StepEstimateTest, IsUnknownWithoutAPeakOrFlopsAndTheGainWithoutALink) {
  link.reset();
  ASSERT_TRUE(gain());
  EXPECT_FALSE(gain()->knows_exchange);
  EXPECT_EQ(gain_text(*gain(), {}), "");
  EXPECT_EQ(gain_warning(*gain(), plan, options, {}, "0"), "");
  link = LinkLimit{"PCIe", 12e9};
  EXPECT_TRUE(gain()->knows_exchange);
  plan.compute.peak_flops = 0;
  EXPECT_FALSE(gain());
  sentences(1);
  plan.compute.flops_per_step = 0;
  EXPECT_FALSE(gain());
}

}  // namespace
}  // namespace lockstep
