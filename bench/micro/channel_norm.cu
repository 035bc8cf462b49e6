// Times what a batch norm's kernels take, forward and backward, by the sizes of an episode of
// fewshot (ResNet-50, 20 pictures of 320^2, bf16), as a CUDA graph of many; with variants of the
// kernels beside each other, whose results must be the same. Built by channel_norm.sh, which lists
// the variants.
#include "ops/channel_norm/channel_norm_launch.h"

#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace lockstep {
#define VARIANT(name)                                                                   \
  cudaError_t forward_##name(const ChannelNormForward& arguments, cudaStream_t stream); \
  cudaError_t backward_##name(const ChannelNormBackward& arguments, cudaStream_t stream);
#include "variants.inc"
#undef VARIANT
}  // namespace lockstep

namespace {

using namespace lockstep;

struct Variant {
  const char* name;
  cudaError_t (*forward)(const ChannelNormForward&, cudaStream_t);
  cudaError_t (*backward)(const ChannelNormBackward&, cudaStream_t);
};
const Variant variants[] = {
#define VARIANT(name) {#name, &forward_##name, &backward_##name},
#include "variants.inc"
#undef VARIANT
};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "error: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

// As whole_batch_layout (ops/shared/voxel_layout.cpp), with so many blocks at once.
VoxelLayout layout_of(std::int64_t voxels, std::int64_t channels, std::int64_t at_once) {
  const auto divided_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  VoxelLayout layout{.dtype = KernelDtype::bf16,
                     .rows = 1,
                     .voxels = voxels,
                     .channels = channels,
                     .vectors = true,
                     .statistics = channels};
  layout.block_groups = reader_channels / 8;
  layout.slabs = static_cast<int>(divided_up(channels / 8, layout.block_groups));
  const std::int64_t turns = divided_up(voxels, 256 / layout.block_groups);
  const std::int64_t each = std::max<std::int64_t>(
      4, divided_up(turns, std::max<std::int64_t>(1, at_once / layout.slabs)));
  layout.chunk_voxels = divided_up(voxels, divided_up(turns, each));
  layout.chunks = divided_up(voxels, layout.chunk_voxels);
  layout.finished_by_readers = layout.chunks <= reader_chunks;
  return layout;
}

__global__ void fill(__nv_bfloat16* to, std::int64_t count, unsigned seed) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    unsigned x = static_cast<unsigned>(i) * 2654435761U + seed;
    x = (x ^ x >> 16) * 2246822519U;
    x = (x ^ x >> 13) * 3266489917U;
    to[i] = __float2bfloat16(static_cast<float>((x ^ x >> 16) & 0xffffff) / 4194304.0F - 1.5F);
  }
}

template <class T>
T* memory(std::int64_t count) {
  void* at = nullptr;
  check(cudaMalloc(&at, static_cast<std::size_t>(count) * sizeof(T)), "memory");
  check(cudaMemset(at, 0, static_cast<std::size_t>(count) * sizeof(T)), "memory");
  return static_cast<T*>(at);
}

constexpr std::int64_t most = 128000LL * 256, most_channels = 4096;

struct Tensors {
  __nv_bfloat16 *x = memory<__nv_bfloat16>(most), *skip = memory<__nv_bfloat16>(most),
                *of_y = memory<__nv_bfloat16>(most), *y = memory<__nv_bfloat16>(most),
                *of_skip = memory<__nv_bfloat16>(most);
  std::uint8_t* bits = memory<std::uint8_t>(most / 8);
};

struct Bench {
  std::vector<Tensors> sets = std::vector<Tensors>(5);  // more than the L2 cache holds
  __nv_bfloat16 *scale = memory<__nv_bfloat16>(most_channels),
                *bias = memory<__nv_bfloat16>(most_channels);
  float *mean = memory<float>(most_channels), *inverse = memory<float>(most_channels),
        *running = memory<float>(2 * most_channels), *partial = memory<float>(1 << 22),
        *sums = memory<float>(2 * most_channels), *of_scale = memory<float>(2 * most_channels);
  cudaStream_t stream = nullptr;

  Bench() {
    check(cudaStreamCreate(&stream), "stream");
    unsigned seed = 1;
    for (Tensors& set : sets)
      for (__nv_bfloat16* tensor : {set.x, set.skip, set.of_y})
        fill<<<1024, 256>>>(tensor, most, seed++);
    fill<<<4, 256>>>(scale, most_channels, seed++);
    fill<<<4, 256>>>(bias, most_channels, seed++);
    check(cudaDeviceSynchronize(), "filling");
  }
  ChannelNormForward forward(const Tensors& set, const VoxelLayout& layout, bool skip) const {
    return {.layout = layout,
            .x = set.x,
            .skip = skip ? set.skip : nullptr,
            .channel_scale = scale,
            .bias = bias,
            .affine = KernelDtype::bf16,
            .y = set.y,
            .positive = skip ? set.bits : nullptr,
            .mean = mean,
            .inverse_deviation = inverse,
            .partial = partial,
            .running_mean = running,
            .running_variance = running + most_channels,
            .epsilon = 1e-5F,
            .momentum = 0.1F,
            .relu = true};
  }
  ChannelNormBackward backward(const Tensors& set, const VoxelLayout& layout, bool skip) const {
    return {.layout = layout,
            .of_y = set.of_y,
            .x = set.x,
            .positive = skip ? set.bits : nullptr,
            .channel_scale = scale,
            .bias = bias,
            .affine = KernelDtype::bf16,
            .mean = mean,
            .inverse_deviation = inverse,
            .of_x = set.y,
            .of_skip = skip ? set.of_skip : nullptr,
            .partial = partial,
            .sums = sums,
            .of_scale = of_scale,
            .of_bias = of_scale + most_channels,
            .relu = true};
  }

  // us of one, the fastest of several graphs of so many.
  template <class Enqueue>
  double time(std::int64_t bytes, const Enqueue& enqueue) {
    constexpr int in_graph = 24, repeats = 6;
    const auto used =
        std::clamp<std::int64_t>(120'000'000 / bytes, 1, static_cast<std::int64_t>(sets.size()));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    for (int i = 0; i < in_graph; ++i)
      check(enqueue(sets[static_cast<std::size_t>(i % used)]), "a launch");
    check(cudaStreamEndCapture(stream, &graph), "capture");
    check(cudaGraphInstantiate(&executable, graph, 0), "graph");
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    float best = INFINITY;
    for (int i = 0; i < repeats; ++i) {
      check(cudaEventRecord(begin, stream), "event");
      check(cudaGraphLaunch(executable, stream), "graph");
      check(cudaEventRecord(end, stream), "event");
      check(cudaStreamSynchronize(stream), "running");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "event");
      best = std::min(best, ms);
    }
    check(cudaGraphExecDestroy(executable), "graph");
    check(cudaGraphDestroy(graph), "graph");
    return best * 1e3 / in_graph;
  }

  std::vector<std::uint16_t> result(std::int64_t elements) const {
    std::vector<std::uint16_t> values(static_cast<std::size_t>(elements));
    check(cudaMemcpy(values.data(), sets[0].y, values.size() * 2, cudaMemcpyDeviceToHost), "copy");
    return values;
  }
};

}  // namespace

int main() {
  Bench bench;
  const std::int64_t sizes[][2] = {{512000, 64},  {128000, 64}, {128000, 128},
                                   {128000, 256}, {32000, 128}, {32000, 256},
                                   {32000, 512},  {8000, 256},  {8000, 1024}};
  for (const auto& [voxels, channels] : sizes)
    for (const bool skip : {false, true})
      for (const bool backward : {false, true}) {
        const std::int64_t elements = voxels * channels;
        const double passes = backward ? (skip ? 6 : 5) : (skip ? 4 : 3);
        std::printf("%6lld x %4lld %s%s, us and TB/s:", static_cast<long long>(voxels),
                    static_cast<long long>(channels), backward ? "backward" : "forward",
                    skip ? " with a residual" : "");
        for (const std::int64_t at_once : {132 * 2, 132 * 3, 132 * 4, 132 * 6}) {
          const VoxelLayout layout = layout_of(voxels, channels, at_once);
          std::printf("\n  %3lld blocks:", static_cast<long long>(at_once));
          std::vector<std::uint16_t> first;
          for (const Variant& variant : variants) {
            const auto enqueue = [&](const Tensors& set) {
              return backward ? variant.backward(bench.backward(set, layout, skip), bench.stream)
                              : variant.forward(bench.forward(set, layout, skip), bench.stream);
            };
            check(variants[0].forward(bench.forward(bench.sets[0], layout, skip), bench.stream),
                  "a launch");
            check(enqueue(bench.sets[0]), "a launch");
            check(cudaStreamSynchronize(bench.stream), "running");
            const std::vector<std::uint16_t> own = bench.result(elements);
            if (first.empty()) first = own;
            const double us = bench.time(elements * 2 * (backward ? 4 : 3), enqueue);
            std::printf("  %s %.1f (%.2f)%s", variant.name, us,
                        passes * static_cast<double>(elements) * 2 / us * 1e-6,
                        own == first ? "" : " DIFFERS");
          }
        }
        std::printf("\n");
        std::fflush(stdout);
      }
}
