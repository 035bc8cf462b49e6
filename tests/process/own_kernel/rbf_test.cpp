// The example's operation without a GPU: its gradient, its types, and how its kernels come in.
#include "../../../examples/own_kernel/rbf.h"

#include "checkout_paths.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "gpu/near.h"
#include "training/recipe/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <torch/csrc/autograd/autograd.h>

#include <filesystem>
#include <fstream>

namespace lockstep {
namespace {

using own_kernel::rbf;
using own_kernel::rbf_by_aten;
using ::testing::AllOf;
using testing::expect_near;
using ::testing::HasSubstr;
using Tensors = std::vector<at::Tensor>;

// x [7, 3], centres [5, 3], scales [5], and the gradient that backward begins with [7, 5].
struct Rbf : ::testing::Test {
  Tensors inputs = {at::rand({7, 3}, at::kDouble), at::rand({5, 3}, at::kDouble),
                    at::rand({5}, at::kDouble) + 0.5};
  at::Tensor weight = at::randn({7, 5}, at::kDouble);

  Tensors leaves(at::ScalarType type) const {
    Tensors all;
    for (const at::Tensor& input : inputs) all.push_back(input.to(type).detach().requires_grad_());
    return all;
  }
  at::Tensor sum_of(const Tensors& in) const {
    return rbf(in[0], in[1], in[2]).to(at::kDouble).mul(weight).sum();
  }
};

TEST_F(Rbf, IsOneAtACentreAndFallsWithTheDistance) {
  const at::Tensor places = at::rand({2, 2});
  const at::Tensor at_centre = rbf(places, places, at::rand({2}));
  EXPECT_EQ(at_centre[0][0].item<double>(), 1);
  const at::Tensor x = at::zeros({1, 2}), centre = at::ones({1, 2}), scale = at::full({1}, 0.5);
  EXPECT_NEAR(rbf(x, centre, scale).item<double>(), std::exp(-0.5), 1e-6);
}

TEST_F(Rbf, ItsGradientIsThatOfFiniteDifferences) {
  const Tensors in = leaves(at::kDouble);
  const Tensors gradients = torch::autograd::grad({sum_of(in)}, in);
  constexpr double h = 1e-6;
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < in.size(); ++i) {
    at::Tensor differences = at::zeros_like(in[i]);
    for (std::int64_t e = 0; e < in[i].numel(); ++e) {
      const auto moved = [&](double by) {
        Tensors other{in[0].clone(), in[1].clone(), in[2].clone()};
        other[i].view({-1})[e] += by;
        return sum_of(other).item<double>();
      };
      differences.view({-1})[e] = (moved(h) - moved(-h)) / (2 * h);
    }
    expect_near(gradients[i], differences, 1e-8, "input " + std::to_string(i));
  }
}

TEST_F(Rbf, KeepsItsTypeAndComputesInFp32) {
  for (const at::ScalarType type : testing::types) {
    const Tensors in = leaves(type);
    const at::Tensor out = rbf(in[0], in[1], in[2]);
    EXPECT_EQ(out.scalar_type(), type);
    Tensors exact;
    for (const at::Tensor& each : in)
      exact.push_back(each.detach().to(at::kDouble).requires_grad_());
    expect_near(out, rbf_by_aten(exact[0], exact[1], exact[2]), testing::tolerance(type), "out");
    const Tensors gradients = torch::autograd::grad({sum_of(in)}, in);
    const Tensors right =
        torch::autograd::grad({rbf_by_aten(exact[0], exact[1], exact[2]).mul(weight).sum()}, exact);
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(gradients[i].scalar_type(), type);
      // The gradient itself comes in the low type.
      expect_near(gradients[i], right[i], 2 * testing::tolerance(type), "gradient");
    }
  }
}

TEST_F(Rbf, PenaltiesOnItsGradientAreDifferentiated) {
  const auto penalty = [&](const auto& operation) {
    const Tensors in = leaves(at::kDouble);
    const at::Tensor sum = operation(in[0], in[1], in[2]).mul(weight).sum();
    const at::Tensor slope =
        torch::autograd::grad({sum}, {in[0]}, {}, {}, /*create_graph=*/true)[0];
    return torch::autograd::grad({slope.square().sum()}, in);
  };
  const Tensors own = penalty(rbf), aten = penalty(rbf_by_aten);
  for (std::size_t i = 0; i < own.size(); ++i)
    expect_near(own[i], aten[i], 1e-12, "input " + std::to_string(i));
}

const std::filesystem::path built = LOCKSTEP_BUILD_DIR "/tests";

bool has_kernel(const char* operation) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(operation, "")
      .hasKernelForDispatchKey(c10::DispatchKey::CUDA);
}

TEST(PluginKernels, AreLoadedWhenAGpuIsUsedAndNotBefore) {
  if (!std::filesystem::exists(built / "libown-kernel-cuda.so"))
    GTEST_SKIP() << "built without a compiler of CUDA kernels";
  load_plugin(built / "libown-kernel.so");
  EXPECT_FALSE(has_kernel("own_kernel::rbf"));
  load_plugin_kernels();
  load_plugin_kernels();  // a second time does no harm
  EXPECT_TRUE(has_kernel("own_kernel::rbf"));
  EXPECT_TRUE(has_kernel("own_kernel::rbf_backward"));
}

TEST(PluginKernels, AreLeftOutWhereOnlyAtensOperatorsAreWanted) {
  setenv("LOCKSTEP_KERNELS", "aten", 1);
  load_plugin(built / "libfake-kernels-plugin.so");
  EXPECT_NO_THROW(load_plugin_kernels());
  unsetenv("LOCKSTEP_KERNELS");
}

std::string refusal() {
  try {
    load_plugin_kernels();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The last test: a plugin that is loaded stays loaded.
TEST(PluginKernels, ThatAreMissingBrokenOrOldAreNamed) {
  const TemporaryDirectory folder;
  const auto plugin = folder.path() / "libfake.so", kernels = folder.path() / "libfake-cuda.so";
  std::filesystem::copy(built / "libfake-kernels-plugin.so", plugin);
  load_plugin(plugin);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("was built with CUDA kernels"),
                               HasSubstr(kernels.string()), HasSubstr("is not there")));
  std::ofstream(kernels) << "no library";
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("could not load the kernels"), HasSubstr(kernels.string())));
  std::filesystem::remove(kernels);
  std::filesystem::copy(built / "libfake-old-kernels.so", kernels);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("0.0.1 torch 1.0"), HasSubstr(plugin_version())));
}

}  // namespace
}  // namespace lockstep
