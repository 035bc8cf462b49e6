#include "tools/jobs/graph/job_queue.h"

#include <algorithm>
#include <tuple>

namespace lockstep {

bool JobQueue::Demand::operator<(const Demand& other) const {
  const auto all = [](const Demand& one) {
    return std::tie(one.cpus, one.gpus.kind, one.gpus.devices, one.gpus.share, one.packed,
                    one.alone);
  };
  return all(*this) < all(other);
}

void JobQueue::put(const QueuedJob& job, const Demand& demand, double wall_s) {
  if (job.not_before > wall_s)
    delayed_.emplace(job.not_before, job.id);
  else
    ready_[demand].emplace(-std::int64_t{job.priority}, job.id);
}

void JobQueue::erase(const QueuedJob& job) {
  for (auto entry = ready_.begin(); entry != ready_.end(); ++entry) {
    if (entry->second.erase({-std::int64_t{job.priority}, job.id}) == 0) continue;
    if (entry->second.empty()) ready_.erase(entry);
    lacks_cores_since_.erase(job.id);
    return;
  }
  // The search begins at the job's time, because thousands of retries may be waiting.
  const auto [begin, end] = delayed_.equal_range(job.not_before);
  const auto found =
      std::find_if(begin, end, [&](const auto& one) { return one.second == job.id; });
  if (found != end) delayed_.erase(found);
}

void JobQueue::clear() {
  ready_.clear();
  delayed_.clear();
}

std::vector<std::int64_t> JobQueue::take_delayed(double wall_s) {
  std::vector<std::int64_t> jobs;
  const auto end = delayed_.upper_bound(wall_s);
  for (auto one = delayed_.begin(); one != end; ++one) jobs.push_back(one->second);
  delayed_.erase(delayed_.begin(), end);
  return jobs;
}

std::optional<double> JobQueue::next_delayed() const {
  return delayed_.empty() ? std::nullopt : std::optional(delayed_.begin()->first);
}

bool JobQueue::any(const std::function<bool(std::int64_t)>& is) const {
  return std::any_of(ready_.begin(), ready_.end(),
                     [&](const auto& entry) { return is(entry.second.begin()->second); });
}

void JobQueue::begin_what_fits(double now_s, const Caller& caller) {
  std::set<Demand> full;
  bool devices_awaited = false;
  std::optional<Place> cores_awaited;  // the first job that lacks cores
  for (;;) {
    const std::pair<const Demand, std::set<Place>>* first = nullptr;
    for (const auto& entry : ready_)
      if (!full.contains(entry.first) &&
          (first == nullptr || *entry.second.begin() < *first->second.begin()))
        first = &entry;
    if (first == nullptr) return;
    const Demand demand = first->first;
    const Place place = *first->second.begin();
    const bool wants_devices = caller.wants_devices(place.second);
    const bool is_held = (devices_awaited && wants_devices) ||
                         (cores_awaited && demand.cpus > 0 &&
                          (cores_awaited->first < place.first ||
                           now_s >= lacks_cores_since_.at(cores_awaited->second) + let_past_s));
    const Lacks lacks = is_held ? Lacks{} : caller.begin(place.second);
    if (!is_held && !lacks.any()) continue;
    if (lacks.slots) return;
    full.insert(demand);
    devices_awaited = devices_awaited || lacks.devices;
    // cores alone would not help a job that also lacks devices
    if (lacks.cores && !lacks.devices) {
      lacks_cores_since_.emplace(place.second, now_s);
      if (!cores_awaited) cores_awaited = place;
    } else if (!is_held) {
      lacks_cores_since_.erase(place.second);
    }
  }
}

}  // namespace lockstep
