// How many patches of volumes does the loader make, and at what cost of processor time?
//   bench-volume-patches DATA CACHE SECONDS
// DATA is a folder as data.path names it, of u8 volumes with labels 0, 1 and 2 (ignored); CACHE a
// folder for decoded volumes. Prints a JSON line of the preparation and one each for kinds of
// augmentation and numbers of threads.
#include "core/base/error.h"
#include "core/base/process/memory.h"
#include "recipes/volume/model/input.h"
#include "recipes/volume/model/loss.h"
#include "recipes/volume/model/patches.h"
#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/entries.h"
#include "training/data/loader.h"
#include "training/recipe/recipe.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::volume {
namespace {

constexpr std::int64_t micro = 16;

// Where brightness and contrast are: on the device, so not measured; on the CPU in one pass, as the
// peer does it; or on the CPU as a rank without a GPU does it.
enum class Values { device, pass, operators };

struct Kind {
  std::string name;
  TurnOptions turn{};
  WarpOptions warp{};
  Values values = Values::device;
};

double processor_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) { return t.tv_sec + 1e-6 * t.tv_usec; };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<VolumeEntry> prepare(const char* data, const char* cache) {
  VolumeOptions options;
  options.data.path = data;
  options.data.ignore = 2;
  const Say quiet = [](const std::string&) {};
  const double begin = now_s();
  const std::vector<Pair> pairs =
      find_pairs({.path = data, .images = "", .labels = "", .csv = ""}, quiet);
  std::vector<VolumeEntry> entries =
      cached_entries(pairs, decode_options(options), {}, cache, quiet);
  std::cout << "{\"kind\": \"preparation\", \"volumes\": " << entries.size()
            << ", \"seconds\": " << now_s() - begin << "}" << std::endl;
  return entries;
}

void change_values(const Batch& batch, std::int64_t step) {
  StepContext context;
  context.counters = at::tensor({std::int64_t{1}, step, std::int64_t{0}});
  augmented(normalised(batch.tensors.at(0), batch.tensors.at(2)),
            {.brightness = 0.2, .contrast = 0.3, .gamma = 0, .noise = 0}, context);
}

// v -> v / 255 * brightness, then its distance from the mean times contrast: one line for a patch.
at::Tensor changed_in_one_pass(const at::Tensor& images, Random& random) {
  at::Tensor changed = at::empty(images.sizes(), at::kFloat);
  const std::uint8_t* from = images.const_data_ptr<std::uint8_t>();
  float* to = changed.mutable_data_ptr<float>();
  const std::int64_t rows = images.size(0), voxels = images.numel() / rows;
  for (std::int64_t row = 0; row < rows; ++row, from += voxels, to += voxels) {
    const double brightness = 0.8 + 0.4 * random.uniform(), contrast = 0.7 + 0.6 * random.uniform();
    std::uint32_t sum = 0;  // of 64^3 bytes
    for (std::int64_t i = 0; i < voxels; ++i) sum += from[i];
    const double mean = sum / static_cast<double>(voxels) / 255 * brightness;
    const auto factor = static_cast<float>(brightness * contrast / 255);
    const auto shift = static_cast<float>(mean * (1 - contrast));
    for (std::int64_t i = 0; i < voxels; ++i) to[i] = static_cast<float>(from[i]) * factor + shift;
  }
  return changed;
}

void measure(const std::vector<VolumeEntry>& entries, const Kind& kind, std::int64_t threads,
             double seconds) {
  // So many that an epoch outlasts the measurement.
  const auto dataset =
      std::make_shared<Patches>(map_volumes(entries, {}), PatchOptions{.size = {64, 64, 64},
                                                                       .per_volume = 1 << 20,
                                                                       .positive = 0.6,
                                                                       .ignore = 2,
                                                                       .type = VoxelType::u8,
                                                                       .turn = kind.turn,
                                                                       .warp = kind.warp});
  LoaderOptions options{.seed = 1,
                        .batch = {.world_size = 1, .micro = micro, .accumulation = 2},
                        .last_step = std::numeric_limits<std::int32_t>::max(),
                        .threads = threads,
                        .loss_weights = [](const Batch& batch) {
                          return segmentation_weights(batch.tensors.at(1), batch.row_weight);
                        }};
  options.batch.global = 2 * micro;
  Loader loader(dataset, options);
  Random random(1, RandomStream::augment, 0, 0);
  for (int i = 0; i < 5; ++i) loader.next();  // pages, threads
  const double begin = now_s(), begin_processor = processor_seconds();
  std::int64_t patches = 0;
  while (now_s() - begin < seconds) {
    const StepData step = loader.next();
    patches += std::ssize(step.samples);
    for (const Batch& batch : step.batches) {
      if (kind.values == Values::operators) change_values(batch, step.step);
      if (kind.values == Values::pass) changed_in_one_pass(batch.tensors.at(0), random);
    }
  }
  const double passed = now_s() - begin, used = processor_seconds() - begin_processor;
  std::cout << "{\"kind\": \"" << kind.name << "\", \"threads\": " << threads
            << ", \"patches_per_s\": " << patches / passed
            << ", \"patches_per_core_s\": " << patches / used
            << ", \"core_ms_per_patch\": " << 1e3 * used / patches << "}" << std::endl;
}

void measure_all(const std::vector<VolumeEntry>& entries, double seconds) {
  const TurnOptions none{.flip = false, .rotate90 = false};
  const std::vector<Kind> kinds = {
      {.name = "cut", .turn = none},
      {.name = "turns"},
      {.name = "turns, brightness, contrast", .values = Values::pass},
      {.name = "turns, brightness, contrast by operators", .values = Values::operators},
      {.name = "turns, rotate", .warp = {.rotate = 15}},
      {.name = "turns, scale", .warp = {.scale = 0.2}},
      {.name = "turns, elastic", .warp = {.elastic = 4}},
      {.name = "turns, rotate, scale, elastic", .warp = {.rotate = 15, .scale = 0.2, .elastic = 4}},
  };
  for (const std::int64_t threads : {0, 1, 2})
    for (const Kind& kind : kinds) measure(entries, kind, threads, seconds);
}

}  // namespace
}  // namespace lockstep::volume

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "bench-volume-patches DATA CACHE SECONDS\n";
    return 2;
  }
  lockstep::keep_freed_memory();  // as a worker does
  at::set_num_threads(1);
  try {
    lockstep::volume::measure_all(lockstep::volume::prepare(words[1], words[2]),
                                  std::atof(words[3]));
  } catch (const lockstep::Error& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
