// Initial values that are a pure function of the seed.
#include "training/parameters/initial_values.h"

#include "core/base/philox.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace lockstep {
namespace {

constexpr std::int64_t values_of_a_stream = 4096;

void fill_block(float* values, std::int64_t count, double std, std::uint64_t seed,
                std::int64_t parameter, std::int64_t block) {
  Random random(seed, RandomStream::init, static_cast<std::uint64_t>(parameter),
                static_cast<std::uint64_t>(block));
  for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(random.normal() * std);
}

}  // namespace

at::Tensor normal_parameter(at::IntArrayRef sizes, double std, std::uint64_t seed,
                            std::int64_t parameter) {
  at::Tensor tensor = at::empty(sizes, at::kFloat);
  float* values = tensor.mutable_data_ptr<float>();
  const std::int64_t count = tensor.numel(),
                     blocks = (count + values_of_a_stream - 1) / values_of_a_stream;
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t block; (block = next++) < blocks;) {
      const std::int64_t begin = block * values_of_a_stream;
      fill_block(values + begin, std::min(values_of_a_stream, count - begin), std, seed, parameter,
                 block);
    }
  };
  const std::int64_t helpers = std::min<std::int64_t>(at::get_num_threads(), blocks) - 1;
  std::vector<std::jthread> threads;
  for (std::int64_t i = 0; i < helpers; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return tensor.requires_grad_(true);
}

at::Tensor constant_parameter(at::IntArrayRef sizes, double value) {
  return at::full(sizes, value, at::kFloat).requires_grad_(true);
}

}  // namespace lockstep
