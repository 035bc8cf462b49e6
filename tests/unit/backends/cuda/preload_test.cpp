// Libraries that cuDNN needs, found beside the CUDA runtime of the wheels. Needs no GPU.
#include "backends/cuda/preload.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace lockstep {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(PreloadNvrtc, FindsItAndWhatItLoadsInTurnBesideTheCudaRuntime) {
  const std::vector<std::string> loaded = preload_nvrtc();
  if (loaded.empty()) GTEST_SKIP() << "this LibTorch comes without NVRTC (the wheels for the CPU)";
  EXPECT_THAT(loaded, Contains(HasSubstr("/libnvrtc.so.")));
  EXPECT_THAT(loaded, Contains(HasSubstr("/libnvrtc-builtins.so.")));
  for (const std::string& path : loaded) {
    // By its bare name, as cuDNN and NVRTC ask.
    const std::string name = std::filesystem::path(path).filename().string();
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr) << name;
    dlclose(library);
  }
}

TEST(PreloadNvrtc, LetsItCompile) {
  void* nvrtc = nullptr;
  for (const std::string& path : preload_nvrtc())
    if (path.find("builtins") == path.npos) nvrtc = dlopen(path.c_str(), RTLD_LAZY);
  if (nvrtc == nullptr)
    GTEST_SKIP() << "this LibTorch comes without NVRTC (the wheels for the CPU)";
  using Create =
      int (*)(void**, const char*, const char*, int, const char* const*, const char* const*);
  using Compile = int (*)(void*, int, const char* const*);
  void* program = nullptr;
  const char* const source = "__global__ void add(float* x) { x[threadIdx.x] += 1; }";
  const auto create = reinterpret_cast<Create>(dlsym(nvrtc, "nvrtcCreateProgram"));
  const auto compile = reinterpret_cast<Compile>(dlsym(nvrtc, "nvrtcCompileProgram"));
  ASSERT_TRUE(create != nullptr && compile != nullptr);
  ASSERT_EQ(create(&program, source, "add.cu", 0, nullptr, nullptr), 0);
  EXPECT_EQ(compile(program, 0, nullptr), 0);
}

}  // namespace
}  // namespace lockstep
