// events.jsonl and everything that reads it: the pages of `lockstep runs`, the progress line,
// `bench`.
#include "fuzz.h"

#include <vector>

#include "core/base/files/files.h"
#include "fakes/fake_clock.h"
#include "runtime/run/events/events.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/folder/run_history.h"
#include "runtime/run/folder/run_summary.h"
#include "runtime/run/progress/progress.h"
#include "runtime/run/progress/scaling_table.h"

namespace lockstep {
namespace {

struct Run {
  TemporaryDirectory root;
  fuzz::MemoryFile events;
  Run() {
    std::filesystem::create_directory(root.path() / "run");
    write_file_atomic(root.path() / "run/run.json", "{}\n");
    std::filesystem::create_symlink(events.path(), root.path() / "run/events.jsonl");
  }
};

void show(const std::vector<nlohmann::json>& events) {
  FakeClock clock;
  std::size_t written = 0;
  Progress progress(
      {.terminal = true, .write = [&](const std::string& text) { written += text.size(); }}, clock);
  for (const nlohmann::json& event : events) {
    progress.on_event(event);
    clock.advance(1);
  }
  progress.finish();
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const Run files;
  files.events.write(fuzz::text_of(data, size));
  const RunDir run = RunDir::open("run", files.root.path());
  int bad_lines = 0;
  std::vector<nlohmann::json> events;  // a pointer of Git LFS in place of the file is refused
  if (!fuzz::accepts([&] { events = read_events(run.events_path(), &bad_lines); })) return 0;
  LOCKSTEP_CHECK(bad_lines >= 0);
  if (events.empty()) return 0;
  show(events);
  read_bench_run(events, 1);
  LOCKSTEP_CHECK(effective_events(events).size() <= events.size());
  FakeClock clock;
  run_page(run, {.thorough = false, .config = true},
           clock);  // a superset of what the table and --json read
  return 0;
}
