// How many samples of packed text does the loader make, and at what cost of processor time?
//   bench-loader TOKENS CONTEXT MICRO_BATCH THREADS SECONDS
// TOKENS is a token file (recipes/textgen/options/token_file.h). Prints one JSON line.
#include "training/data/loader.h"
#include "core/base/error.h"
#include "core/base/process/memory.h"
#include "recipes/textgen/model/dataset.h"

#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>

namespace lockstep {
namespace {

double processor_seconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) { return t.tv_sec + 1e-6 * t.tv_usec; };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void measure(const char* path, std::int64_t context, std::int64_t micro, std::int64_t threads,
             double seconds) {
  const auto tokens = std::make_shared<textgen::FileTokens>(path);
  const auto dataset = std::make_shared<textgen::TextDataset>(tokens, context, /*shifting=*/true);
  LoaderOptions options{.seed = 1,
                        .batch = {.world_size = 1, .micro = micro, .accumulation = 4},
                        .last_step = std::numeric_limits<std::int32_t>::max(),
                        .threads = threads};
  options.batch.global = 4 * micro;
  Loader loader(dataset, options);
  for (int i = 0; i < 20; ++i) loader.next();  // pages, threads
  const double begin = now_s(), begin_processor = processor_seconds();
  std::int64_t samples = 0;
  while (now_s() - begin < seconds) samples += std::ssize(loader.next().samples);
  const double passed = now_s() - begin, used = processor_seconds() - begin_processor;
  std::cout << "{\"threads\": " << threads << ", \"samples_per_s\": " << samples / passed
            << ", \"samples_per_core_s\": " << samples / used << "}" << std::endl;
}

}  // namespace
}  // namespace lockstep

int main(int count, char** words) {
  if (count != 6) {
    std::cerr << "bench-loader TOKENS CONTEXT MICRO_BATCH THREADS SECONDS\n";
    return 2;
  }
  lockstep::keep_freed_memory();  // as a worker does
  try {
    lockstep::measure(words[1], std::atoll(words[2]), std::atoll(words[3]), std::atoll(words[4]),
                      std::atof(words[5]));
  } catch (const lockstep::Error& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
