// Short runs of one candidate each; what was found is remembered beside the runs.
#include "cli/micro_probe.h"

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/bench_setup.h"
#include "cli/context.h"
#include "cli/measured_memory.h"
#include "cli/resolve.h"
#include "cli/run_end.h"
#include "cli/train.h"
#include "plan/memory.h"
#include "plan/memory_help.h"
#include "plan/memory_key.h"
#include "plan/micro_search.h"
#include "run/json_cache.h"
#include "run/json_lines.h"

#include <algorithm>
#include <optional>

namespace lockstep::cli {
namespace {

// Until the step has become a graph, and one more.
constexpr std::int64_t probe_steps = 5;
// Enough for all that accumulation keeps, whatever its length.
constexpr std::int64_t most_accumulation = 2;

std::filesystem::path probe_file(const RunSetup& setup) {
  return cache_dir(*setup.train) / "micro.json";
}

std::string probe_key(const RunSetup& setup, const std::vector<Device>& devices) {
  nlohmann::json where = nlohmann::json::array();
  for (const Device& device : devices)
    where.push_back({device.name, device.memory_bytes, device.threads});
  const auto& batch = setup.train->batch;  // of whose share the micro-batch is a divisor
  const nlohmann::json what{memory_key(setup),
                            batch.global,
                            batch.accumulation,
                            setup.prepared.facts.default_global,
                            where,
                            version(),
                            LOCKSTEP_TORCH_VERSION};
  Hasher hasher;
  hasher.update(what.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return hasher.hex();
}

void take(MemoryEstimate& memory, const RunSetup& setup, const std::vector<Device>& devices,
          std::int64_t micro, double peak_bytes) {
  memory.tried_micro = micro;
  use_peak(memory, setup, devices, static_cast<double>(micro), peak_bytes);
}

// A few steps of the setup's plan: the most that a rank used, or nothing where memory ran out.
std::optional<double> measure(const RunSetup& setup) {
  const TemporaryDirectory scratch;
  RunDir run = RunDir::create(scratch.path(), "try", setup.recipe, [&](RunDir& fresh) {
    fresh.lock();
    write_start(setup, fresh, false);
  });
  LaunchSpec spec;
  spec.argv = {worker_program().string(), "bench", "--run", run.path().string()};
  spec.devices = setup.plan.devices;
  spec.log_dir = run.path() / "logs";
  spec.knows_hangup = true;
  spec.on_event = [](const nlohmann::json&) {};  // so that ranks say why they fail
  const LaunchOutcome outcome = launch(spec, system_clock());
  if (std::holds_alternative<Finished>(outcome)) return largest_peak(run, {"peak", "reserved"});
  const auto* failed = std::get_if<RankFailed>(&outcome);
  if (failed != nullptr && failed->error && failed->error->out_of_memory) return std::nullopt;
  throw ToldAlready{report_reading(outcome)};
}

// The setup of such a try.
RunSetup setup_for(const RunSetup& setup, const MemoryEstimate& memory,
                   const std::vector<Device>& devices, std::int64_t share, std::int64_t micro) {
  const bool has_gpu = devices[0].kind == DeviceKind::cuda;
  RunSetup tried = make_setup(setup.recipe, setup.plugin, has_gpu);
  const auto tables = tried.tables();
  apply_json(tables, setup_to_json(setup).at("config"));
  tried.prepared = setup.prepared;
  TrainOptions& train = *tried.train;
  const auto ranks = static_cast<std::int64_t>(devices.size());
  const std::int64_t accumulation = std::min(most_accumulation, share / micro);
  train.batch = {.global = ranks * micro * accumulation,
                 .micro = micro,
                 .accumulation = accumulation,
                 .micro_changes = {}};
  only_train(train, probe_steps);
  tried.plan = make_plan(train, tried.prepared.facts, memory, devices);
  return tried;
}

// Exact sums that the whole accumulation keeps and the short one did not.
double missing_sums(const RunSetup& setup, std::int64_t share) {
  const BatchPlan& tried = setup.plan.batch;
  const ExactSum whole = plan_exact_sum(tried.world_size, tried.micro, share / tried.micro,
                                        setup.prepared.facts.parameters);
  const std::int64_t more = whole.buffers - setup.plan.exact->buffers;
  return 4.0 * static_cast<double>(more * setup.prepared.facts.parameters);
}

}  // namespace

void use_tried_micro(MemoryEstimate& memory, const RunSetup& setup,
                     const std::vector<Device>& devices) {
  if (setup.train->batch.micro != micro_auto) return;
  const nlohmann::json cache = read_json_cache(probe_file(setup));
  const auto found = cache.find(probe_key(setup, devices));
  if (found == cache.end() || !found->is_object()) return;
  const auto micro = integer_or(*found, "micro", 0);
  if (micro > 0) take(memory, setup, devices, micro, number_or(*found, "peak_bytes", 0));
}

void try_micro_out(MemoryEstimate& memory, const RunSetup& setup,
                   const std::vector<Device>& devices) {
  if (setup.train->batch.micro != micro_auto) return;
  use_tried_micro(memory, setup, devices);
  if (memory.tried_micro > 0) return;
  const std::string key = probe_key(setup, devices);
  const Plan plan = make_plan(*setup.train, setup.prepared.facts, memory, devices);
  const std::int64_t share = plan.batch.global / plan.batch.world_size;
  const auto tightest = tightest_device(devices);
  if (!tightest) return;
  MicroSearch search(share, plan.batch.micro, plan.memory.fixed_bytes, tightest->available_bytes);
  while (const std::optional<std::int64_t> micro = search.next()) {
    const RunSetup tried = setup_for(setup, memory, devices, share, *micro);
    std::optional<double> peak = measure(tried);
    if (peak && tried.plan.exact) *peak += missing_sums(tried, share);
    say(cat("trying micro-batch ", *micro, ": ",
            peak ? cat(format_bytes(*peak), " used of ", format_bytes(tightest->available_bytes),
                       " available")
                 : "memory ran out"));
    search.tried(*micro, peak);
  }
  if (search.largest() == 0)
    throw Error("out of memory with micro-batch 1", memory_help(plan, *setup.train, 1, ""));
  remember_in_cache(probe_file(setup), key,
                    {{"micro", search.largest()}, {"peak_bytes", search.peak_bytes()}});
  take(memory, setup, devices, search.largest(), search.peak_bytes());
}

}  // namespace lockstep::cli
