// How long do the kernels over images and volumes take, beside the time that moving their bytes
// takes?
//   bench-gates [ROWS [f16|bf16|f32]]      on the first GPU; 16 rows of f16
// Five levels of a channels-last U-Net over 64 x 64 x 64 voxels. Prints a line per operation: time,
// bytes that its passes must move, the time of a copy that moves as many (floor), and the ratio.
#include "backends/backend.h"
#include "core/base/error.h"
#include "ops/attention_gate/attention_gate.h"
#include "ops/cat_channels/cat_channels.h"
#include "ops/channel_norm/fused_norm.h"
#include "ops/channels_last/channels_last.h"
#include "ops/mask_loss/mask_loss.h"
#include "ops/spatial/spatial.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv3d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {
namespace {

using Tensors = std::vector<at::Tensor>;
using Work = std::function<Tensors()>;

class Bench {
 public:
  explicit Bench(Backend& backend) : backend_(backend) {
    const at::TensorOptions options = at::TensorOptions().device(backend_.device());
    slots_ = at::zeros({2}, options.dtype(at::kDouble));
    const at::Tensor from = at::randn({1 << 28}, options), to = at::empty_like(from);
    const double seconds = time([&] {
      to.copy_(from);
      return Tensors{};
    });
    bytes_per_second_ = 2.0 * static_cast<double>(from.nbytes()) / seconds;
    std::printf("%s; a copy moves %.0f GB/s\n", backend_.description().c_str(),
                bytes_per_second_ * 1e-9);
    std::printf("%-34s %-24s %9s %9s %9s %6s\n", "operation", "shape", "ms", "MB", "floor",
                "ratio");
  }

  void line(const std::string& operation, const std::string& shape, double bytes,
            const Work& work) {
    const double seconds = time(work), floor = bytes / bytes_per_second_;
    std::printf("%-34s %-24s %9.4f %9.1f %9.4f %6.2f\n", operation.c_str(), shape.c_str(),
                1e3 * seconds, 1e-6 * bytes, 1e3 * floor, seconds / floor);
  }

 private:
  // The median of rounds, each a graph that does the work ten times.
  double time(const Work& work) {
    constexpr int repeats = 10, rounds = 9;
    for (int i = 0; i < 3; ++i) work();
    const auto graph = backend_.capture([&] {
      for (int i = 0; i < repeats; ++i) work();
    });
    if (graph == nullptr) throw Error("this device has no graphs", "run it on a GPU");
    std::vector<double> seconds;
    for (int i = 0; i < rounds + 2; ++i) {
      backend_.stamp(slots_.narrow(0, 0, 1));
      graph->replay();
      backend_.stamp(slots_.narrow(0, 1, 1));
      const at::Tensor both = slots_.cpu();
      if (i >= 2) seconds.push_back((both[1].item<double>() - both[0].item<double>()) / repeats);
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[rounds / 2];
  }

  Backend& backend_;
  at::Tensor slots_;
  double bytes_per_second_ = 0;
};

// The gradients of y by the leaves, again and again.
Work backward_of(const at::Tensor& y, const std::vector<at::Tensor>& leaves) {
  const at::Tensor up = at::randn_like(y);
  return [=] { return torch::autograd::grad({y}, leaves, {up}, /*retain_graph=*/true); };
}

struct Level {
  std::int64_t channels, size;
};

void measure_level(Bench& bench, const Level& level, std::int64_t rows,
                   const at::TensorOptions& options) {
  const auto [channels, size] = level;
  const auto fresh = [&] {
    return at::randn({rows, channels, size, size, size}, options.dtype(at::kFloat))
        .to(options.dtype().toScalarType())
        .contiguous(at::MemoryFormat::ChannelsLast3d)
        .requires_grad_();
  };
  const at::Tensor x = fresh(), skip = fresh();
  const at::Tensor scale = at::ones({rows, channels}, options.dtype(at::kFloat));
  const double unit = static_cast<double>(x.nbytes());  // one pass over the tensor
  const double maps = static_cast<double>(x.numel()) / static_cast<double>(channels) * 4;
  const std::string shape =
      std::to_string(rows) + " x " + std::to_string(channels) + " x " + std::to_string(size) + "^3";
  {
    const at::Tensor plain = instance_norm_act(x, scale, {}, true);
    bench.line("instance_norm_act", shape, 3 * unit,
               [&] { return Tensors{instance_norm_act(x.detach(), scale, {}, true)}; });
    bench.line("instance_norm_act backward", shape, 5 * unit, backward_of(plain, {x}));
  }
  {
    const at::Tensor joined = instance_norm_act(x, scale, skip, true);
    bench.line("... with a residual sum", shape, 4 * unit,
               [&] { return Tensors{instance_norm_act(x, scale, skip, true)}; });
    bench.line("... backward", shape, 7 * unit, backward_of(joined, {x, skip}));
  }
  {
    const auto [mean, largest] = mean_and_max_over_voxels(x);
    const at::Tensor both = mean + largest;
    bench.line("mean_and_max_over_voxels", shape, unit,
               [&] { return Tensors{mean_and_max_over_voxels(x.detach()).first}; });
    bench.line("mean_and_max_over_voxels backward", shape, 2 * unit, backward_of(both, {x}));
  }
  {
    const PooledVoxels pooled = pool_voxels(x);
    bench.line("... with x's other gradient", shape, 3 * unit,
               [=, up = at::randn_like(x), small = at::randn_like(pooled.mean)] {
                 return torch::autograd::grad({pooled.mean, pooled.largest, pooled.x}, {x},
                                              {small, small, up}, /*retain_graph=*/true);
               });
  }
  if (channels > 256) return;  // gates stand in the decoder, pools between the levels
  {
    const PooledWindows pooled = pool_windows(x, 2);
    const double small = unit / 8 + static_cast<double>(pooled.largest.numel());
    bench.line("pool_windows", shape, unit + small,
               [&] { return Tensors{pool_windows(x.detach(), 2).largest}; });
    bench.line("pool_windows backward", shape, unit + small, backward_of(pooled.largest, {x}));
    bench.line("... with x's other gradient", shape, 2 * unit + small,
               [=, up = at::randn_like(x), less = at::randn_like(pooled.largest)] {
                 return torch::autograd::grad({pooled.largest, pooled.x}, {x}, {less, up},
                                              /*retain_graph=*/true);
               });
  }
  const at::Tensor gate = at::rand({rows, channels}, options.dtype(at::kFloat)).requires_grad_();
  const at::Tensor weight =
      at::randn({1, 2, 7, 7, 7}, options.dtype(at::kFloat)).mul(0.1).detach().requires_grad_();
  const at::Tensor gated = spatial_gate(x, gate, weight);
  bench.line("spatial_gate", shape, 3 * unit + 6 * maps,
             [&] { return Tensors{spatial_gate(x.detach(), gate.detach(), weight.detach())}; });
  bench.line("spatial_gate backward", shape, 5 * unit + 15 * maps,
             backward_of(gated, {x, gate, weight}));
}

// Beside at::cat, and the copy that the second reader of its gradient makes.
void measure_cat(Bench& bench, const Level& level, std::int64_t rows,
                 const at::TensorOptions& options) {
  const auto [channels, size] = level;
  if (channels > 256) return;  // skips end above the lowest level
  const auto format = at::MemoryFormat::ChannelsLast3d;
  const auto fresh = [&] {
    return at::empty({rows, channels, size, size, size}, options.memory_format(format))
        .normal_()
        .requires_grad_();
  };
  const at::Tensor a = fresh(), b = fresh();
  const double unit = static_cast<double>(a.nbytes());
  const std::string shape =
      std::to_string(rows) + " x " + std::to_string(channels) + " x " + std::to_string(size) + "^3";
  bench.line("cat_channels", shape, 4 * unit,
             [&] { return Tensors{cat_channels(a.detach(), b.detach())}; });
  bench.line("cat_channels backward", shape, 4 * unit, backward_of(cat_channels(a, b), {a, b}));
  bench.line("at::cat", shape, 4 * unit, [&] { return Tensors{at::cat({a, b}, 1).detach()}; });
  const at::Tensor up = at::randn_like(cat_channels(a, b));
  bench.line("at::cat backward, both copied", shape, 4 * unit, [=] {
    return Tensors{up.narrow(1, 0, channels).contiguous(format),
                   up.narrow(1, channels, channels).contiguous(format)};
  });
}

// The first convolution of a network, whose input says in which layout it lies, or does not.
void measure_first(Bench& bench, std::int64_t rows, const at::TensorOptions& options) {
  at::globalContext().setBenchmarkCuDNN(true);  // as a run has it
  const auto format = at::MemoryFormat::ChannelsLast3d;
  const at::Tensor x = at::randn({rows, 1, 64, 64, 64}, options);
  const std::string shape = std::to_string(rows) + " x 1 x 64^3, to 32";
  for (const std::int64_t window : {3, 1}) {
    const at::Tensor weight =
        at::randn({32, 1, window, window, window}, options).contiguous(format).requires_grad_();
    for (const bool says : {false, true}) {
      const at::Tensor input = says ? as_channels_last(x) : x;
      const std::string name = "conv3d of " + std::to_string(window) + "^3" +
                               (says ? ", channels-last" : ", as one channel lies");
      const auto convolved = [=](const at::Tensor& by) {
        return at::conv3d(input, by, {}, 1, window / 2);
      };
      const at::Tensor y = convolved(weight);
      const double bytes = static_cast<double>(x.nbytes() + y.nbytes());
      // What follows reads channels-last.
      bench.line(name, shape, bytes,
                 [=] { return Tensors{convolved(weight.detach()).contiguous(format)}; });
      const at::Tensor up = at::randn_like(y).contiguous(format);
      bench.line("... backward", shape, bytes,
                 [=] { return torch::autograd::grad({y}, {weight}, {up}, /*retain_graph=*/true); });
    }
  }
}

void measure_loss(Bench& bench, std::int64_t rows, const at::TensorOptions& options) {
  const at::Tensor logits = at::randn({rows, 1, 64, 64, 64}, options.dtype(at::kFloat))
                                .to(options.dtype().toScalarType())
                                .requires_grad_();
  const at::Tensor target = at::randint(3, {rows, 64, 64, 64}, options.dtype(at::kByte));
  const at::Tensor weights = at::ones({rows}, options.dtype(at::kFloat));
  const double unit = static_cast<double>(logits.nbytes() + target.nbytes());
  const auto sum = [&](const at::Tensor& of) {
    const auto sums = mask_loss(of, target, weights, {.ignore = 2});
    return sums[0] * 0.6 + sums[1] * 0.2 + sums[2] * 0.2;
  };
  const std::string shape = std::to_string(rows) + " x 64^3";
  bench.line("mask_loss", shape, unit, [&] { return Tensors{sum(logits.detach())}; });
  bench.line("mask_loss backward", shape, unit + static_cast<double>(logits.nbytes()),
             backward_of(sum(logits), {logits}));
}

void measure(int count, char** words) {
  const std::int64_t rows = count > 1 ? std::atoll(words[1]) : 16;
  const std::string name = count > 2 ? words[2] : "f16";
  if (rows < 1 || (name != "f16" && name != "bf16" && name != "f32"))
    throw Error("bench-gates takes a number of rows and f16, bf16 or f32", "bench-gates 16 f16");
  Backend& backend = cuda_backend();
  backend.use_training_stream();
  const auto type = name == "f16" ? at::kHalf : name == "bf16" ? at::kBFloat16 : at::kFloat;
  const auto options = at::TensorOptions().device(backend.device()).dtype(type);
  Bench bench(backend);
  const Level levels[] = {{32, 64}, {64, 32}, {128, 16}, {256, 8}, {512, 4}};
  for (const Level& level : levels) measure_level(bench, level, rows, options);
  for (const Level& level : levels) measure_cat(bench, level, rows, options);
  measure_first(bench, rows, options);
  measure_loss(bench, rows, options);
}

}  // namespace
}  // namespace lockstep

int main(int count, char** words) {
  try {
    lockstep::measure(count, words);
    return 0;
  } catch (const lockstep::Error& error) {
    std::fprintf(stderr, "error: %s\n\nhint: %s\n", error.what(), error.hint().c_str());
    return 1;
  }
}
