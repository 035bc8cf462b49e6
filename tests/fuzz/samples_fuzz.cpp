// samples.jsonl: which samples each step trained on.
#include "fuzz.h"

#include "core/base/files/files.h"
#include "runtime/run/events/samples.h"

namespace lockstep {
namespace {

struct FilesOfSamples {
  TemporaryDirectory root;
  fuzz::MemoryFile samples;
  FilesOfSamples() {
    std::filesystem::create_symlink(samples.path(), root.path() / "samples.jsonl");
  }
};

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const FilesOfSamples files;
  files.samples.write(fuzz::text_of(data, size));
  std::size_t count = 0;
  fuzz::accepts([&] {  // a pointer of Git LFS in place of the file is refused
    for (const auto& step : effective_samples(files.root.path())) count += step.size();
  });
  LOCKSTEP_CHECK(count <= size);
  return 0;
}
