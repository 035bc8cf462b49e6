// run.json, as a worker and `lockstep runs` read it. An accepted record must be the same after
// writing it again.
#include "fuzz.h"

#include <nlohmann/json.hpp>

#include "core/base/files/files.h"
#include "fakes/fake_clock.h"
#include "planning/run_setup.h"
#include "runtime/run/folder/run_dir.h"
#include "runtime/run/folder/run_summary.h"

namespace lockstep {
namespace {

struct RecordedRun {
  TemporaryDirectory root;
  fuzz::MemoryFile record;
  RecordedRun() {
    std::filesystem::create_directory(root.path() / "run");
    std::filesystem::create_symlink(record.path(), root.path() / "run/run.json");
  }
};

void check_setup(const nlohmann::json& record) {
  RunSetup setup;
  if (!fuzz::accepts([&] { setup = setup_from_json(record); })) return;
  const Plan& plan = setup.plan;
  const BatchPlan& batch = plan.batch;
  LOCKSTEP_CHECK(batch.world_size > 0 && batch.micro > 0 && batch.accumulation > 0 &&
                 batch.global > 0 && batch.rows_per_sample > 0);
  LOCKSTEP_CHECK(!plan.devices.empty() && plan.total_steps >= 0 && plan.train_samples >= 0);
  to_text(plan, /*curve=*/false);
  learning_rate(plan.schedule, plan.total_steps / 2);
  const std::string written = setup_to_json(setup).dump();
  LOCKSTEP_CHECK(setup_to_json(setup_from_json(nlohmann::json::parse(written))).dump() == written);
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const RecordedRun files;
  files.record.write(fuzz::text_of(data, size));
  const RunDir run = RunDir::open("run", files.root.path());
  FakeClock clock;
  run_page(run, {.thorough = false, .config = true},
           clock);  // a superset of what the table and --json read
  nlohmann::json record;
  if (fuzz::accepts([&] { record = run.record(); })) check_setup(record);
  return 0;
}
