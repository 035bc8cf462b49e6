// Logits that are not finite, and indices that are in no table, which stop the device: each of
// those in a process of its own.
#include "gpu/gpu_fixture.h"
#include "gpu/near.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/embedding/embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <string>

namespace lockstep {
namespace {

using IndexTest = GpuTest;
using IndexDeathTest = GpuTest;

using testing::expect_near, testing::tolerance, testing::types;

// Sizes for each of the kernels, with rows of whole vectors and without.
TEST_F(IndexTest, RowsThatBeginWithMinusInfinityAgreeWithTheReference) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const at::ScalarType type : types)
    for (const std::int64_t classes : {9, 40, 1000, 4096, 8193, 40000})
      for (const std::int64_t masked : {std::int64_t{1}, std::int64_t{8}, classes - 1}) {
        at::Tensor logits = at::randn({5, classes}, options).to(type);
        logits.narrow(1, 0, masked).fill_(-std::numeric_limits<double>::infinity());
        at::Tensor targets = at::full({5}, classes - 1, options.dtype(at::kLong));
        targets[3] = -100;
        const at::Tensor scale = at::full({}, 0.37, options);
        const at::Tensor exact = logits.to(at::kDouble);
        const at::Tensor losses = cross_entropy_reference(exact, targets, scale);
        const at::Tensor own_losses = cross_entropy_in_place(logits, targets, scale);
        const std::string what = std::string(c10::toString(type)) + " " + std::to_string(classes) +
                                 " of which " + std::to_string(masked);
        EXPECT_TRUE(own_losses.isfinite().all().item<bool>()) << what;
        expect_near(own_losses, losses, 1e-5, "losses " + what);
        expect_near(logits, exact, tolerance(type), "gradient " + what);
      }
}

TEST_F(IndexTest, ALogitThatIsNoNumberShowsInTheLoss) {
  const auto options = at::TensorOptions().device(gpu().device());
  for (const std::int64_t classes : {9, 40, 8193, 40000})
    for (const std::int64_t place : {std::int64_t{0}, classes - 1}) {
      at::Tensor logits = at::full({2, classes}, -std::numeric_limits<double>::infinity(), options)
                              .to(at::kBFloat16);
      logits[0][1] = 1;
      logits[0][place] = std::numeric_limits<double>::quiet_NaN();
      const at::Tensor losses = cross_entropy_in_place(
          logits, at::full({2}, 1, options.dtype(at::kLong)), at::full({}, 1.0, options));
      EXPECT_TRUE(losses.isnan().all().item<bool>()) << classes << " at " << place;
    }
}

// Runs `work` and waits for it; the process ends with 3 if the device refused.
void run_to_the_end(Backend& gpu, const std::function<void()>& work) {
  try {
    work();
    gpu.synchronize();
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(3);
  }
  std::_Exit(0);
}

TEST_F(IndexDeathTest, ATargetThatIsNoClassStopsTheDeviceByName) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto options = at::TensorOptions().device(gpu().device());
  for (const std::int64_t classes : {40, 40000}) {
    const auto work = [&] {
      at::Tensor logits = at::randn({3, classes}, options).to(at::kBFloat16);
      at::Tensor targets = at::full({3}, 1, options.dtype(at::kLong));
      targets[1] = classes;
      cross_entropy_in_place(logits, targets, at::full({}, 1.0, options));
    };
    EXPECT_EXIT(run_to_the_end(gpu(), work), ::testing::ExitedWithCode(3),
                "targets of the loss are below the number of classes");
  }
}

TEST_F(IndexDeathTest, ATokenThatIsNoRowStopsTheDeviceByName) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto options = at::TensorOptions().device(gpu().device());
  for (const std::int64_t wrong : {-1, 50}) {
    const auto work = [&] {
      at::Tensor tokens = at::randint(50, {2, 8}, options.dtype(at::kLong));
      tokens[1][3] = wrong;
      embed_tokens(tokens, at::randn({50, 16}, options), at::randn({8, 16}, options));
    };
    EXPECT_EXIT(run_to_the_end(gpu(), work), ::testing::ExitedWithCode(3),
                "tokens are at least 0 and below vocab");
  }
}

}  // namespace
}  // namespace lockstep
