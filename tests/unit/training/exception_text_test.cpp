#include "backends/exception_text.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>

#include <gmock/gmock.h>

namespace lockstep {
namespace {

using ::testing::HasSubstr;

// What torch says when it meets an input of another type than the weights.
template <class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return message_of(error);
  }
  return "nothing";
}

TEST(ExceptionText, AdvisesOnInputsThatWereNotCast) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    const at::Tensor x = at::ones({2, 3, 4}), weight = at::ones({4, 4}, type);
    for (const std::string& said :
         {message([&] { at::matmul(x, weight); }),
          message([&] { at::addmm(at::ones({4}, type), x[0], weight); }), message([&] {
            at::conv1d(x, at::ones({3, 3, 1}, type));
          })})
      EXPECT_THAT(advice_on(said), HasSubstr("context.compute_dtype")) << said;
  }
}

TEST(ExceptionText, AdvisesOnBatchNormOfTorch) {
  EXPECT_THAT(advice_on("Expected running_mean to have type BFloat16 but got Float"),
              HasSubstr("lockstep::BatchNorm"));
}

TEST(ExceptionText, SaysNothingOfWhatItDoesNotKnow) {
  const at::Tensor x = at::ones({2, 3});
  EXPECT_EQ(advice_on(message([&] { at::matmul(x, x); })), "");
  EXPECT_EQ(advice_on("CUDA error: out of memory"), "");
}

}  // namespace
}  // namespace lockstep
