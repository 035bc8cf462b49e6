// How long the network of the volume recipe takes for a whole volume in tiles, on a GPU in fp16:
//   bench-volume-tiles EXTENT BATCH REPEATS
// prints a line of JSON each time. Voxels begin on the host and masks end there; files are not
// read.
#include "backends/backend.h"
#include "recipes/volume/model/input.h"
#include "recipes/volume/model/patches.h"
#include "recipes/volume/model/tiles.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace lockstep;
using namespace lockstep::volume;

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: bench-volume-tiles EXTENT BATCH REPEATS [try]\n");
    return 2;
  }
  const std::int64_t extent = std::atoll(words[1]), batch = std::atoll(words[2]);
  Backend& backend = cuda_backend();
  const at::NoGradGuard no_gradients;
  const bool trying = count > 4;
  at::globalContext().setBenchmarkCuDNN(trying);
  Net net({}, 1);
  for (Parameter& parameter : net.parameters())
    parameter.tensor.set_data(parameter.tensor.detach().to(backend.device(), at::kHalf));
  const at::Tensor image = at::randint(0, 256, {1, extent, extent, extent}).to(at::kByte);
  at::Tensor mask = at::empty({extent, extent, extent}, at::kByte);
  StepContext context;
  context.training = false;
  const at::Tensor x = at::rand({batch, 1, 64, 64, 64}, at::TensorOptions(backend.device()));
  for (int i = 0; i < 3; ++i) {
    backend.synchronize();
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < 10; ++k) net.logits(network_input(x, at::kHalf), context);
    backend.synchronize();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("{\"network_alone_ms\": %.3f, \"try\": %s}\n", seconds.count() * 100,
                trying ? "true" : "false");
  }
  for (int i = 0; i < std::atoi(words[3]); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    for_probabilities({{&net, normals_tensor({{0, 255, 0, 1.0F / 255}})}},
                      {.batch = batch, .device = backend.device(), .type = at::kHalf},
                      {.extents = {extent, extent, extent},
                       .rows = {0, extent},
                       .read = [&](RowRange rows) { return image.slice(1, rows.begin, rows.end); }},
                      [&](RowRange rows, const at::Tensor& values) {
                        mask.slice(0, rows.begin, rows.end).copy_(labels_of(values, 0.5));
                      });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("{\"extent\": %lld, \"batch\": %lld, \"run\": %d, \"seconds\": %.4f}\n",
                static_cast<long long>(extent), static_cast<long long>(batch), i, seconds.count());
  }
}
