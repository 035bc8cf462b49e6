#include "tools/jobs/schedule/placement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/check.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr double tolerance = 1e-9;  // shares are sums of fractions such as 0.3

double share_of(const GpuRequest& gpus) {
  return gpus.kind == GpuRequest::Kind::share ? gpus.share : 1;
}

int devices_of(const GpuRequest& gpus) {
  if (gpus.kind == GpuRequest::Kind::share) return 1;
  return gpus.kind == GpuRequest::Kind::whole ? gpus.devices : 0;
}

}  // namespace

Resources::Resources(BatchResources all)
    : all_(std::move(all)),
      free_cpus_(static_cast<double>(all_.cores.size())),
      free_cores_(all_.cores.begin(), all_.cores.end()),
      free_share_(all_.devices.size(), 1),
      aside_(all_.devices.size(), false) {
  LOCKSTEP_CHECK(!all_.cores.empty());
}

// Whether jobs are bound to cores. If a user asks for more slots than cores, jobs mostly wait, so
// they are not bound.
bool Resources::pins() const { return all_.slots <= static_cast<int>(all_.cores.size()); }

int Resources::slots() const {
  return std::min(most_slots_,
                  all_.slots > 0 ? all_.slots : static_cast<int>(all_.cores.size()) * 4);
}

std::vector<int> Resources::choose_devices(const GpuRequest& gpus) const {
  std::vector<int> order(all_.devices.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int device) {
    const auto place = static_cast<std::size_t>(device);
    return aside_[place] || busy_.contains(device) ||
           free_share_[place] + tolerance < share_of(gpus);
  });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return free_share_[static_cast<std::size_t>(a)] >
           free_share_[static_cast<std::size_t>(b)] + tolerance;
  });
  const auto wanted = static_cast<std::size_t>(devices_of(gpus));
  if (order.size() < wanted) return {};
  order.resize(wanted);
  return order;
}

// Chooses free cores, first those near the job's first device. The caller ensures that there are
// enough.
std::vector<int> Resources::choose_cores(std::size_t count, const std::vector<int>& devices) const {
  std::vector<int> chosen;
  const auto take = [&](int core) {
    if (chosen.size() < count && free_cores_.contains(core) &&
        std::find(chosen.begin(), chosen.end(), core) == chosen.end())
      chosen.push_back(core);
  };
  if (!devices.empty() && static_cast<std::size_t>(devices[0]) < all_.near.size())
    for (const int core : all_.near[static_cast<std::size_t>(devices[0])]) take(core);
  for (const int core : free_cores_) take(core);
  return chosen;
}

Lacks Resources::lacks(const QueuedJob& job) const {
  return {.slots = static_cast<int>(used_slots_.size()) >= slots(),
          .cores = pins() && job.cpus > free_cpus_ + tolerance,
          .devices = devices_of(job.gpus) > 0 && choose_devices(job.gpus).empty()};
}

std::optional<Placement> Resources::place(const QueuedJob& job) {
  if (lacks(job).any()) return std::nullopt;
  Placement result{.cpus = job.cpus, .share = share_of(job.gpus)};
  if (devices_of(job.gpus) > 0) result.devices = choose_devices(job.gpus);
  while (used_slots_.contains(result.slot)) ++result.slot;
  // Only whole cores are bound. A job that requests a fraction is not bound to any core.
  if (const auto whole = static_cast<std::size_t>(job.cpus);
      pins() && std::abs(job.cpus - static_cast<double>(whole)) < tolerance &&
      whole <= free_cores_.size())
    result.cores = choose_cores(whole, result.devices);
  for (const int core : result.cores) free_cores_.erase(core);
  for (const int device : result.devices)
    free_share_[static_cast<std::size_t>(device)] -= result.share;
  free_cpus_ -= job.cpus;
  used_slots_.insert(result.slot);
  return result;
}

Placement Resources::take(const QueuedJob& job, int slot, const std::vector<int>& cores,
                          const std::vector<std::string>& devices) {
  Placement result{.slot = slot, .cpus = job.cpus, .share = share_of(job.gpus)};
  for (const int core : cores)
    if (free_cores_.erase(core) > 0) result.cores.push_back(core);
  for (const std::string& uuid : devices) {
    const auto found = std::find(all_.devices.begin(), all_.devices.end(), uuid);
    if (found == all_.devices.end()) continue;
    result.devices.push_back(static_cast<int>(found - all_.devices.begin()));
    free_share_[static_cast<std::size_t>(result.devices.back())] -= result.share;
  }
  while (used_slots_.contains(result.slot)) ++result.slot;
  used_slots_.insert(result.slot);
  free_cpus_ -= job.cpus;
  return result;
}

void Resources::release(const Placement& placement) {
  free_cores_.insert(placement.cores.begin(), placement.cores.end());
  for (const int device : placement.devices)
    free_share_[static_cast<std::size_t>(device)] += placement.share;
  free_cpus_ += placement.cpus;
  used_slots_.erase(placement.slot);
}

void Resources::reshare(Placement& placement, double share) {
  for (const int device : placement.devices)
    free_share_[static_cast<std::size_t>(device)] += placement.share - share;
  placement.share = share;
}

std::string Resources::never(const QueuedJob& job) const {
  const auto cores = static_cast<double>(all_.cores.size());
  if (pins() && job.cpus > cores + tolerance)
    return cat("needs ", general(job.cpus, 4), " cores, and there are ", all_.cores.size());
  const auto usable = static_cast<int>(std::count(aside_.begin(), aside_.end(), false));
  if (devices_of(job.gpus) > usable)
    return usable == 0 ? std::string("needs a GPU, and there is none")
                       : cat("needs ", devices_of(job.gpus), " GPUs, and there are ", usable);
  return {};
}

void Resources::set_aside(int device) { aside_[static_cast<std::size_t>(device)] = true; }
void Resources::set_slots(int slots) { all_.slots = slots; }

}  // namespace lockstep
