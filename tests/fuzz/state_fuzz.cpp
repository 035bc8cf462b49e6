// The small JSON files: a run's state.json, and what was measured and is remembered (memory.json).
#include "fuzz.h"

#include "core/base/files/files.h"
#include "runtime/run/events/json_cache.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep {
namespace {

struct StateRun {
  TemporaryDirectory root;
  fuzz::MemoryFile state;
  StateRun() {
    std::filesystem::create_directory(root.path() / "run");
    write_file_atomic(root.path() / "run/run.json", "{}\n");
    std::filesystem::create_symlink(state.path(), root.path() / "run/state.json");
  }
};

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const StateRun files;
  files.state.write(fuzz::text_of(data, size));
  const RunDir run = RunDir::open("run", files.root.path());
  LOCKSTEP_CHECK(run.state() != RunState::running);
  run.state_reason();
  nlohmann::json cache;  // a pointer of Git LFS in place of the file is refused
  if (!fuzz::accepts([&] { cache = read_json_cache(files.state.path()); })) return 0;
  LOCKSTEP_CHECK(cache.is_object());
  files.state.write(cache.dump(1));
  LOCKSTEP_CHECK(read_json_cache(files.state.path()) == cache);
  return 0;
}
