#include "recipes/gbdt/lightgbm/gpu.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "core/base/error.h"

namespace lockstep::gbdt {
namespace {

TEST(ChooseGpu, IsNoneOnTheCpuAndAnErrorByCudaWithoutADriver) {
  if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr) GTEST_SKIP() << "a CUDA driver is here";
  std::optional<LightGbm> found;
  try {
    found.emplace(find_lightgbm(""));
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const LightGbm& library = *found;
  Parameters on_cpu = {{"device_type", "cpu"}}, by_cuda = {{"device_type", "cuda"}};
  EXPECT_EQ(choose_gpu(library, "", on_cpu), "");
  try {
    choose_gpu(library, "", by_cuda);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("there is no CUDA driver (libcuda.so.1)"));
  }
}

}  // namespace
}  // namespace lockstep::gbdt
