// The cache of measured peaks, keyed by what memory depends on.
#include "cli/measured_memory.h"

#include "base/hash.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/resolve.h"
#include "plan/memory.h"
#include "plan/memory_key.h"
#include "run/events.h"
#include "run/json_cache.h"
#include "run/json_lines.h"
#include "run/run_history.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

std::filesystem::path cache_file(const RunSetup& setup) {
  return cache_dir(*setup.train) / "memory.json";
}

// CPU ranks measure the whole process, which says little of a sample's share: only GPUs count. With
// exact = true what is remembered must not change the leaf, and with it the result.
bool measurable(const RunSetup& setup, const std::vector<Device>& devices) {
  return !devices.empty() && devices[0].kind == DeviceKind::cuda && !setup.train->exact;
}

std::string key_of(const RunSetup& setup, const std::vector<Device>& devices) {
  const nlohmann::json what{memory_key(setup), setup.train->shard_optimizer ? devices.size() : 1,
                            devices[0].name, version(), LOCKSTEP_TORCH_VERSION};
  Hasher hasher;
  hasher.update(what.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return hasher.hex();
}

// The micro-batch of the newest steps: smaller than the plan's once memory ran out. The allocator's
// peak may be of the larger one before; then a sample seems to take more than it does, never less.
std::int64_t micro_of(const RunSetup& setup, const RunDir& run) {
  const RunHistory history = read_history(run.events_path());
  return history.micro.empty() ? setup.plan.batch.micro : history.micro.back().second;
}

}  // namespace

double largest_peak(const RunDir& run, const std::vector<std::string>& fields) {
  double peak = 0;
  for (const nlohmann::json& event : read_events(run.events_path()))
    if (text_or(event, "kind", "") == "step" && event.contains("memory"))
      for (const nlohmann::json& rank : event["memory"])
        for (const std::string& field : fields)
          peak = std::max(peak, number_or(rank, field.c_str(), 0));
  return peak;
}

bool use_peak(MemoryEstimate& memory, const RunSetup& setup, const std::vector<Device>& devices,
              double micro, double peak_bytes) {
  return take_peak(memory, *setup.train, devices.size(), micro, peak_bytes);
}

void use_measured_memory(MemoryEstimate& memory, const RunSetup& setup,
                         const std::vector<Device>& devices) {
  if (!measurable(setup, devices)) return;
  const nlohmann::json cache = read_json_cache(cache_file(setup));
  const auto found = cache.find(key_of(setup, devices));
  if (found == cache.end() || !found->is_object()) return;
  const double peak = number_or(*found, "peak_bytes", 0), micro = number_or(*found, "micro", 0);
  if (use_peak(memory, setup, devices, micro, peak)) memory.measured = true;
}

void remember_memory(const RunSetup& setup, const RunDir& run) {
  // What is remembered is what a sample takes with all its activations kept.
  if (!measurable(setup, setup.plan.devices) || setup.plan.recomputed_blocks > 0) return;
  try {
    const double peak = largest_peak(run, {"peak"});
    if (peak <= 0) return;
    remember_in_cache(cache_file(setup), key_of(setup, setup.plan.devices),
                      {{"peak_bytes", peak}, {"micro", micro_of(setup, run)}});
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace lockstep::cli
