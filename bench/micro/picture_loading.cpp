// How many pictures a second does the loader decode and resize, and at what cost of processor time?
//   bench-picture-loading FOLDER SECONDS
// FOLDER holds JPEG or PNG. Prints a JSON line each for pictures that are decoded each time and for
// pictures that are kept once decoded, with several numbers of threads.
#include "core/base/error.h"
#include "core/base/process/memory.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/pictures/open_picture.h"
#include "recipes/fewshot/pictures/picture_cache.h"
#include "recipes/fewshot/pictures/views.h"
#include "training/data/loader.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <vector>

namespace lockstep::fewshot {
namespace {

constexpr std::int64_t micro = 20;  // pictures of an episode
constexpr int size = 320;

double processor_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) { return t.tv_sec + 1e-6 * t.tv_usec; };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<Picture> pictures_of(const std::filesystem::path& folder) {
  std::vector<Picture> pictures;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".jpg" && ending != ".jpeg" && ending != ".png") continue;
    const ImageShape shape = read_picture_shape(entry.path());
    pictures.push_back({.id = std::ssize(pictures),
                        .path = entry.path(),
                        .width = shape.width,
                        .height = shape.height});
  }
  if (pictures.empty()) throw Error("there are no pictures in " + folder.string());
  std::sort(pictures.begin(), pictures.end(),
            [](const Picture& a, const Picture& b) { return a.path < b.path; });
  return pictures;
}

// Each of its epochs shows all pictures so often that it outlasts the measurement.
class Views : public Dataset {
 public:
  Views(const std::vector<Picture>& pictures, std::uint64_t cache_bytes)
      : pictures_(pictures), cache_(cache_bytes) {}
  std::int64_t size() const override { return std::ssize(pictures_) << 16; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext&) const override {
    const auto number = static_cast<std::size_t>(index) % pictures_.size();
    const std::shared_ptr<const Image> view =
        cache_.get({.picture = static_cast<int>(number)},
                   [&] { return whole_view(open_picture(pictures_[number]), fewshot::size); });
    at::Tensor row = at::empty({fewshot::size, fewshot::size, 3}, at::kByte);
    std::memcpy(row.mutable_data_ptr<std::uint8_t>(), view->u8().data(), view->u8().size());
    return {row};
  }

 private:
  const std::vector<Picture>& pictures_;
  mutable PictureCache cache_;
};

void measure(const std::vector<Picture>& pictures, const char* kind, std::uint64_t cache_bytes,
             std::int64_t threads, double seconds) {
  LoaderOptions options{.seed = 1,
                        .batch = {.world_size = 1, .micro = micro, .accumulation = 1},
                        .last_step = std::numeric_limits<std::int32_t>::max(),
                        .threads = threads,
                        .loss_weights = [](const Batch&) { return std::vector<double>{}; }};
  options.batch.global = micro;
  Loader loader(std::make_shared<Views>(pictures, cache_bytes), options);
  // Until all were seen a few times, where they are kept.
  const std::int64_t before = cache_bytes == 0 ? 5 : 10 * std::ssize(pictures) / micro + 5;
  for (std::int64_t i = 0; i < before; ++i) loader.next();
  const double begin = now_s(), begin_processor = processor_seconds();
  std::int64_t count = 0;
  while (now_s() - begin < seconds) count += loader.next().batches.at(0).tensors.at(0).size(0);
  const double passed = now_s() - begin, used = processor_seconds() - begin_processor;
  std::cout << "{\"kind\": \"" << kind << "\", \"threads\": " << threads
            << ", \"pictures_per_s\": " << count / passed
            << ", \"pictures_per_core_s\": " << count / used
            << ", \"core_ms_per_picture\": " << 1e3 * used / count << "}" << std::endl;
}

}  // namespace
}  // namespace lockstep::fewshot

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "bench-picture-loading FOLDER SECONDS\n";
    return 2;
  }
  lockstep::keep_freed_memory();  // as a worker does
  at::set_num_threads(1);
  try {
    const std::vector<lockstep::fewshot::Picture> pictures =
        lockstep::fewshot::pictures_of(words[1]);
    for (const std::int64_t threads : {0, 1, 2}) {
      lockstep::fewshot::measure(pictures, "decoded each time", 0, threads, std::atof(words[2]));
      lockstep::fewshot::measure(pictures, "kept", std::uint64_t{4} << 30, threads,
                                 std::atof(words[2]));
    }
  } catch (const lockstep::Error& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
