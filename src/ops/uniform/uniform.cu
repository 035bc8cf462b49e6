// Uniform random numbers on the GPU. A thread draws four at a time. Each row needs only a few of
// them.
#include "ops/philox/philox_inline.h"
#include "ops/uniform/uniform_launch.h"

namespace lockstep {
namespace {

constexpr int threads = 256;
constexpr std::int64_t most_blocks = 4096;

__global__ void __launch_bounds__(threads)
    uniform_kernel(UniformArguments arguments, std::int64_t quads_per_row) {
  const std::int64_t step = arguments.counters[1], first_global_row = arguments.counters[2];
  const std::uint64_t key = uniform_key(arguments.counters[0]);
  const std::int64_t quads = arguments.rows * quads_per_row;
  const std::int64_t stride = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x; i < quads; i += stride) {
    const std::int64_t row = i / quads_per_row, quad = i - row * quads_per_row;
    const PhiloxWords words = row_words(quad, first_global_row + row, step, arguments.layer, key);
    const std::int64_t left = arguments.row_numbers - quad * 4;
    float* const to = arguments.numbers + row * arguments.row_numbers + quad * 4;
#pragma unroll
    for (int w = 0; w < 4; ++w)
      if (w < left) to[w] = uniform_of(words.word[w]);
  }
}

}  // namespace

cudaError_t launch_uniform(const UniformArguments& arguments, cudaStream_t stream) {
  const std::int64_t quads_per_row = (arguments.row_numbers + 3) / 4;
  const std::int64_t wanted = (arguments.rows * quads_per_row + threads - 1) / threads;
  if (wanted == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>(wanted < most_blocks ? wanted : most_blocks);
  uniform_kernel<<<blocks, threads, 0, stream>>>(arguments, quads_per_row);
  return cudaGetLastError();
}

}  // namespace lockstep
