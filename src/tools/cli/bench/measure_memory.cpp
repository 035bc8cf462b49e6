// Two caches, keyed by everything that memory depends on: peaks of runs, and trials of
// batch.micro=auto.
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

// Until the step has become a graph, and one more.
constexpr std::int64_t try_steps = 5;

// A micro-batch that the model or its statistics stand on leaves nothing to try out.
bool is_auto(const RunSetup& setup) {
  return setup.train->batch.micro == micro_auto && setup.prepared.facts.fixed_micro == 0 &&
         setup.train->norm.rows == 0;
}

// Where something is remembered.
struct Place {
  std::filesystem::path file;
  std::string key;
};

Place place(const RunSetup& setup, const char* file, const nlohmann::json& what) {
  Hasher hasher;
  hasher.update(what.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return {cache_dir(*setup.train) / file, hasher.hex()};
}

// CPU ranks measure the whole process, which says little about a sample's share, so only GPUs
// count. With exact = true a remembered value must not change the leaf, and with it the result.
bool peaks_count(const RunSetup& setup, const std::vector<Device>& devices) {
  return !devices.empty() && devices[0].kind == DeviceKind::cuda && !setup.train->exact;
}

Place place_of_peak(const RunSetup& setup, const std::vector<Device>& devices) {
  return place(setup, "memory.json",
               {memory_key(setup), setup.train->shard_optimizer ? devices.size() : 1,
                devices[0].name, version(), LOCKSTEP_TORCH_VERSION});
}

// The micro-batch that was found is a divisor of a rank's share.
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

// The micro-batch of the newest steps: smaller than the plan's once memory ran out. The allocator's
// peak may be of the larger one before; then a sample seems to take more than it does, never less.
std::int64_t micro_of(const RunSetup& setup, const RunDir& run) {
  const RunHistory history = read_history(run.events_path());
  return history.micro.empty() ? setup.plan.batch.micro : history.micro.back().second;
}

// The largest value of these fields of a rank's memory in the run's events: "peak", "reserved".
double largest_peak(const RunDir& run, const std::vector<std::string>& fields) {
  double peak = 0;
  for (const nlohmann::json& event : read_events(run.events_path()))
    if (text_or(event, "kind", "") == "step" && event.contains("memory"))
      for (const nlohmann::json& rank : event["memory"])
        for (const std::string& field : fields)
          peak = std::max(peak, number_or(rank, field.c_str(), 0));
  return peak;
}

// A few steps of the setup's plan: the most that a rank used, or nothing where memory ran out.
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
  spec.on_event = [](const nlohmann::json&) {};  // so that ranks say why they fail
  const LaunchOutcome outcome = launch(spec, system_clock());
  if (std::holds_alternative<Finished>(outcome)) return largest_peak(run, {"peak", "reserved"});
  const auto* failed = std::get_if<RankFailed>(&outcome);
  if (failed != nullptr && failed->error && failed->error->out_of_memory) return std::nullopt;
  throw ToldAlready{report_reading(outcome)};
}

// The setup of such a try.
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
  // The remembered value is for a sample with all its activations kept.
  if (!peaks_count(setup, setup.plan.devices) || setup.plan.recomputed_blocks > 0) return;
  try {
    const double peak = largest_peak(run, {"peak"});
    if (peak > 0) remember(place_of_peak(setup, setup.plan.devices), micro_of(setup, run), peak);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace lockstep::cli
