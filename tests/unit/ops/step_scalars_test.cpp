// The numbers of a step, and tensors copied at once, by ATen.
#include "fakes/step_scalar_cases.h"
#include "ops/copy_all/copy_all.h"

#include <ATen/ops/empty_like.h>

namespace lockstep {
namespace {

TEST(StepScalars, OfAnUpdateAreFoundAgainAndAgain) { testing::expect_update_scalars(at::kFloat); }
TEST(StepScalars, OfAStepAreFound) { testing::expect_numbers(at::kFloat); }

TEST(CopyAll, CopiesEach) {
  const at::Tensor a = at::arange(5), b = at::arange(6).view({2, 3}).t();
  const Copies copies{{at::empty_like(a), a}, {at::empty_like(b), b}};
  copy_all(copies);
  for (const auto& [to, from] : copies) EXPECT_TRUE(at::equal(to, from));
}

}  // namespace
}  // namespace lockstep
