// Two caches: peak memory of runs, and results of batch.micro=auto. Their keys contain everything
// that affects memory.
#include "tools/cli/bench/measure_memory.h"

#include "built_with.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "planning/batch/micro_batch.h"
#include "planning/memory/measured_memory.h"
#include "planning/memory/memory.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/json_cache.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_history.h"
#include "tools/cli/bench/bench_setup.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/run_end.h"
#include "tools/cli/train/train.h"

#include <algorithm>
#include <optional>

namespace lockstep::cli {
namespace {

// Memory is complete once the step is captured as a CUDA graph. One more step follows.
constexpr std::int64_t try_steps = 5;

// Whether the micro-batch is found by measuring. False if the model or its normalization statistics
// fix the size.
bool is_auto(const RunSetup& setup) {
  return setup.train->batch.micro == micro_auto && setup.prepared.facts.fixed_micro == 0 &&
         setup.train->norm.rows == 0;
}

// The file and key of a remembered value.
struct Place {
  std::filesystem::path file;
  std::string key;
};

Place place(const RunSetup& setup, const char* file, const nlohmann::json& what) {
  Hasher hasher;
  hasher.update(what.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return {cache_dir(*setup.train) / file, hasher.hex()};
}

// Whether measured peaks are remembered. Only GPUs count, because CPU ranks measure the whole
// process. With exact = true, a remembered value must not change the micro-batch, because that
// changes the result.
bool peaks_count(const RunSetup& setup, const std::vector<Device>& devices) {
  return !devices.empty() && devices[0].kind == DeviceKind::cuda && !setup.train->exact;
}

Place place_of_peak(const RunSetup& setup, const std::vector<Device>& devices) {
  return place(setup, "memory.json",
               {memory_key(setup), setup.train->shard_optimizer ? devices.size() : 1,
                devices[0].name, version(), LOCKSTEP_TORCH_VERSION});
}

// The place of the micro-batch that was found. The key includes the batch sizes, because the
// micro-batch divides a rank's share.
Place place_of_try(const RunSetup& setup, const std::vector<Device>& devices) {
  nlohmann::json where = nlohmann::json::array();
  for (const Device& device : devices)
    where.push_back({device.name, device.memory_bytes, device.threads});
  const auto& batch = setup.train->batch;
  return place(setup, "micro.json",
               {memory_key(setup), batch.global, batch.accumulation,
                setup.prepared.facts.default_global, where, version(), LOCKSTEP_TORCH_VERSION});
}

void remember(const Place& place, std::int64_t micro, double peak_bytes) {
  remember_in_cache(place.file, place.key, {{"micro", micro}, {"peak_bytes", peak_bytes}});
}

// The micro-batch of the newest steps. It is smaller than planned if memory ran out. The
// allocator's peak may belong to the larger micro-batch before. The memory per sample is then
// overestimated, never underestimated.
std::int64_t micro_of(const RunSetup& setup, const RunDir& run) {
  const RunHistory history = read_history(run.events_path());
  return history.micro.empty() ? setup.plan.batch.micro : history.micro.back().second;
}

// The largest value of these fields in the memory events of any rank: "peak", "reserved".
double largest_peak(const RunDir& run, const std::vector<std::string>& fields) {
  double peak = 0;
  for (const nlohmann::json& event : read_events(run.events_path()))
    if (text_or(event, "kind", "") == "step" && event.contains("memory"))
      for (const nlohmann::json& rank : event["memory"])
        for (const std::string& field : fields)
          peak = std::max(peak, number_or(rank, field.c_str(), 0));
  return peak;
}

// Runs a few steps of the setup's plan. Returns the most memory that a rank used, or nothing if
// memory ran out.
std::optional<double> measure_with(const RunSetup& setup) {
  const TemporaryDirectory scratch;
  RunDir run = RunDir::create(scratch.path(), "try", setup.recipe, [&](RunDir& fresh) {
    fresh.lock();
    write_start(setup, fresh, false);
  });
  LaunchSpec spec;
  spec.argv = {worker_program().string(), "bench", "--run", run.path().string(), "--longest-first"};
  spec.devices = setup.plan.devices;
  spec.log_dir = run.make_logs();
  spec.knows_hangup = true;
  spec.on_event = [](const nlohmann::json&) {};  // with a listener, ranks report why they fail
  const LaunchOutcome outcome = launch(spec, system_clock());
  if (std::holds_alternative<Finished>(outcome)) return largest_peak(run, {"peak", "reserved"});
  const auto* failed = std::get_if<RankFailed>(&outcome);
  if (failed != nullptr && failed->error && failed->error->out_of_memory) return std::nullopt;
  throw ToldAlready{report_reading(outcome)};
}

// The setup of such a trial.
RunSetup setup_for(const RunSetup& setup, const std::vector<Device>& devices,
                   const BatchPlan& batch) {
  RunSetup tried = make_setup(setup.recipe, setup.plugin, devices[0].kind == DeviceKind::cuda);
  const auto tables = tried.tables();
  apply_json(tables, setup_to_json(setup).at("config"));
  tried.prepared = setup.prepared;
  TrainOptions& train = *tried.train;
  train.batch = {.global = batch.global,
                 .micro = batch.micro,
                 .accumulation = batch.accumulation,
                 .micro_changes = {}};
  only_train(train, try_steps);
  tried.plan = make_plan(train, tried.prepared.facts, setup.memory, devices);
  return tried;
}

}  // namespace

MeasuredMemory known_memory(const RunSetup& setup, const std::vector<Device>& devices) {
  if (!is_auto(setup) && !peaks_count(setup, devices)) return {};
  const Place place = is_auto(setup) ? place_of_try(setup, devices) : place_of_peak(setup, devices);
  const nlohmann::json cache = read_json_cache(place.file);
  const auto found = cache.find(place.key);
  if (found == cache.end() || !found->is_object()) return {};
  return {.micro = std::max<std::int64_t>(integer_or(*found, "micro", 0), 0),
          .peak_bytes = number_or(*found, "peak_bytes", 0)};
}

void try_micro_out(const RunSetup& setup, const std::vector<Device>& devices) {
  const auto tightest = tightest_device(devices);
  if (!is_auto(setup) || !tightest || known_memory(setup, devices).micro > 0) return;
  const Facts& facts = setup.prepared.facts;
  const Plan plan = make_plan(*setup.train, facts, setup.memory, devices);
  MicroSearch search(plan, tightest->available_bytes);
  while (const std::optional<std::int64_t> micro = search.next()) {
    const RunSetup tried = setup_for(setup, devices, batch_to_try(plan.batch, *micro));
    std::optional<double> peak = measure_with(tried);
    if (peak) *peak += bytes_not_tried(tried.plan, plan.batch, facts.parameters);
    say(cat("trying micro-batch ", *micro, ": ",
            peak ? cat(format_bytes(*peak), " used of ", format_bytes(tightest->available_bytes),
                       " available")
                 : "memory ran out"));
    search.tried(*micro, peak);
  }
  if (search.largest() == 0)
    throw Error("out of memory with micro-batch 1", memory_help(plan, *setup.train, 1));
  remember(place_of_try(setup, devices), search.largest(), search.peak_bytes());
}

void remember_memory(const RunSetup& setup, const RunDir& run) {
  // The remembered value assumes that all activations are kept.
  if (!peaks_count(setup, setup.plan.devices) || setup.plan.recomputed_blocks > 0) return;
  try {
    const double peak = largest_peak(run, {"peak"});
    if (peak > 0) remember(place_of_peak(setup, setup.plan.devices), micro_of(setup, run), peak);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace lockstep::cli
