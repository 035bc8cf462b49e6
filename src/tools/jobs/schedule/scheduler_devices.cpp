// Decides which jobs share devices, and observes them there.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/text/text.h"
#include "tools/jobs/schedule/scheduler.h"

namespace lockstep {
namespace {

using Choice = CpuOrGpu::Choice;

// A running job's memory is stable if the job is old enough and has not needed more for some time.
constexpr double settled_after_s = 30, not_grown_s = 20;

UniqueFd duplicate(const UniqueFd& fd) { return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3)); }

const GpuRequest one_device{.kind = GpuRequest::Kind::whole, .devices = 1};

}  // namespace

bool ran_out_of_memory(const RunningAttempt& running, const AttemptEnd& end) {
  return end.outcome == AttemptOutcome::out_of_memory ||
         (end.outcome == AttemptOutcome::failed && end.signal == SIGKILL &&
          running.attempt.asked.empty());
}

bool Scheduler::is_searched(const QueuedJob& job) const {
  return !job.kind.empty() && job.kind == setup_.searched_kind;
}

// Whether a job shares its device with other jobs of its kind that fit.
bool Scheduler::is_packed(const QueuedJob& job) const {
  if (job.kind.empty() || job.gpu_memory.kind == GpuMemoryRequest::Kind::all) return false;
  if (is_searched(job)) return job.gpus.kind != GpuRequest::Kind::none;
  return job.gpus.kind == GpuRequest::Kind::automatic || job.gpus == one_device;
}

Scheduler::Kind& Scheduler::kind_of(const QueuedJob& job) {
  if (const auto found = kinds_.find(job.kind); found != kinds_.end()) return found->second;
  const std::int64_t device_bytes = setup_.watch ? setup_.watch->least_memory_bytes() : 0;
  Kind kind{.packing = Packing(device_bytes, job.gpu_memory.bytes)};
  kind.packing.restore(ledger_.fact("packing " + job.kind));
  kind.choice.restore(ledger_.fact("auto " + job.kind));
  return kinds_.emplace(job.kind, std::move(kind)).first->second;
}

bool Scheduler::wants_devices(std::int64_t job) {
  Choice ignored = Choice::unknown;
  return request_of(listed_.at(job), ignored).kind != GpuRequest::Kind::none;
}

// The devices that the job requests at this moment. trial: set if the job is the first of its kind.
GpuRequest Scheduler::request_of(const QueuedJob& job, Choice& trial) {
  GpuRequest request = job.gpus;
  if (request.kind == GpuRequest::Kind::automatic) {
    const CpuOrGpu& choice = kind_of(job).choice;
    if (resources_.all().devices.empty() || choice.choice() == Choice::cpu) return {};
    if (choice.wants_trial(Choice::gpu))
      trial = Choice::gpu;
    else if (choice.wants_trial(Choice::cpu) && !forgiven_.contains(job.id))
      trial = Choice::cpu;
    if (trial == Choice::cpu) return {};
    request = one_device;
  }
  if (alone_.contains(job.id)) return one_device;
  if (!is_packed(job)) return request;
  const int limit = per_device(job);
  if (limit > 1) return {.kind = GpuRequest::Kind::share, .share = 1.0 / limit};
  return one_device;
}

int Scheduler::per_device(const QueuedJob& job) {
  return setting_ && is_searched(job) ? setting_->at_once : kind_of(job).packing.per_device();
}

void Scheduler::use(const JobSetting& setting) {
  setting_ = setting;
  ++settings_used_;
  const auto devices = static_cast<int>(resources_.all().devices.size());
  resources_.set_slots(setting.at_once * std::max(1, devices));
  for (auto& [id, running] : running_)
    if (is_searched(running.queued) && !alone_.contains(running.attempt.job) &&
        !running.placement.devices.empty())
      resources_.reshare(running.placement, 1.0 / setting.at_once);
}

int Scheduler::fit_per_device() {
  for (const auto& [id, job] : listed_)
    if (is_searched(job) && is_packed(job)) return kind_of(job).packing.fits();
  return 1;
}

std::string Scheduler::never(const QueuedJob& job) const {
  QueuedJob asked = job;
  if (job.gpus.kind == GpuRequest::Kind::automatic) asked.gpus = {};
  return resources_.never(asked);
}

// Leases a device once for all packed jobs on it. Each job gets its own file descriptor of the same
// lock.
bool Scheduler::lease_packed(int device, std::vector<UniqueFd>& leases) {
  Occupancy& occupancy = occupancy_[static_cast<std::size_t>(device)];
  if (occupancy.packed == 0) occupancy.leases.clear();
  if (occupancy.leases.empty()) {
    auto taken = leases_->take(resources_.all().devices[static_cast<std::size_t>(device)], 1,
                               cat("batch ", setup_.folder.path.string()));
    if (!taken) return false;
    occupancy.leases = std::move(*taken);
  }
  for (const UniqueFd& fd : occupancy.leases) leases.push_back(duplicate(fd));
  return true;
}

// Leases all devices of the placement. Returns "" on success. If a device is taken, returns its
// holder and sets `device`.
std::string Scheduler::lease(const Placement& placement, bool packed, std::vector<UniqueFd>& leases,
                             int& device) {
  for (const int each : placement.devices) {
    device = each;
    const std::string& uuid = resources_.all().devices[static_cast<std::size_t>(each)];
    if (occupancy_[static_cast<std::size_t>(each)].jobs == 0 && setup_.used_by)
      if (const std::string who = setup_.used_by(each); !who.empty()) return who;
    if (packed && lease_packed(each, leases)) continue;
    auto taken = leases_->take(uuid, placement.share, cat("batch ", setup_.folder.path.string()));
    if (!taken) {
      const std::vector<std::string> holders = leases_->holders(uuid);
      return holders.empty() ? "another program" : join(holders, ", ");
    }
    std::move(taken->begin(), taken->end(), std::back_inserter(leases));
  }
  return {};
}

std::optional<Placement> Scheduler::place(const QueuedJob& job, std::vector<UniqueFd>& leases) {
  for (;;) {
    std::optional<Placement> placement = resources_.place(job);
    if (!placement || placement->devices.empty()) return placement;
    int device = 0;
    const bool packed = is_packed(listed_.at(job.id)) && !alone_.contains(job.id);
    const std::string who = lease(*placement, packed, leases, device);
    if (who.empty()) {
      for (const int each : placement->devices) waits_for_.erase(each);
      return placement;
    }
    leases.clear();
    resources_.release(*placement);
    resources_.set_busy(device);
    waits_for_[device] = who;
  }
}

void Scheduler::enter(RunningAttempt& running) {
  if (running.placement.devices.empty()) return;
  if (setup_.watch) setup_.watch->begin(running.sight);
  const bool packed = is_packed(running.queued);
  if (packed) running.limit = per_device(running.queued);
  const double now = clock_.now_s();
  for (const int device : running.placement.devices) {
    Occupancy& occupancy = occupancy_[static_cast<std::size_t>(device)];
    occupancy.job_s += occupancy.jobs * (now - occupancy.until_s);
    occupancy.until_s = now;
    ++occupancy.jobs;
    occupancy.packed += packed;
    running.most_together = std::max(running.most_together, occupancy.jobs);
    count_together(device);
  }
  running.job_s_at_begin = occupancy_[static_cast<std::size_t>(running.placement.devices[0])].job_s;
}

void Scheduler::count_together(int device) {
  for (auto& [id, running] : running_) {
    const std::vector<int>& devices = running.placement.devices;
    if (std::find(devices.begin(), devices.end(), device) != devices.end())
      running.most_together =
          std::max(running.most_together, occupancy_[static_cast<std::size_t>(device)].jobs);
  }
}

double Scheduler::vacate(RunningAttempt& running, double duration_s) {
  resources_.release(running.placement);
  if (running.placement.devices.empty()) return 1;
  const double now = clock_.now_s();
  for (const int device : running.placement.devices) {
    Occupancy& occupancy = occupancy_[static_cast<std::size_t>(device)];
    occupancy.job_s += occupancy.jobs * (now - occupancy.until_s);
    occupancy.until_s = now;
    running.most_together = std::max(running.most_together, occupancy.jobs);
    count_together(device);
    --occupancy.jobs;
    occupancy.packed -= is_packed(running.queued);
    if (occupancy.packed == 0) occupancy.leases.clear();
  }
  if (duration_s <= 0) return 1;
  const double job_s = occupancy_[static_cast<std::size_t>(running.placement.devices[0])].job_s;
  return std::max(1.0, (job_s - running.job_s_at_begin) / duration_s);
}

OnDevices Scheduler::seen(const RunningAttempt& running) const {
  return {.sight = running.sight,
          .shared = running.most_together > 1,
          .device_bytes = setup_.watch ? setup_.watch->least_memory_bytes() : 0};
}

void Scheduler::look_at_devices() {
  if (!setup_.watch || !setup_.watch->take()) return;
  std::vector<WatchedAttempt> watched;
  for (auto& [id, running] : running_) {
    if (running.placement.devices.empty()) continue;
    WatchedAttempt one{.mark = mark_of(id), .sight = &running.sight};
    for (const int device : running.placement.devices) {
      one.devices.push_back(static_cast<std::size_t>(device));
      one.alone = one.alone && occupancy_[one.devices.back()].jobs == 1;
    }
    watched.push_back(std::move(one));
  }
  setup_.watch->look(watched);
  const double now = clock_.now_s();
  for (auto& [id, running] : running_) {
    const AttemptSight& sight = running.sight;
    if (sight.verdict == PlaceVerdict::wrong) end_attempt(running, ended_by_place);
    const bool steady = sight.peak_bytes > 0 && now > running.begun_s + settled_after_s &&
                        now > sight.grown_s + not_grown_s;
    if (steady && is_packed(running.queued) && !running.placement.devices.empty() &&
        kind_of(running.queued).packing.saw(sight.peak_bytes, sight.activity_percent()) &&
        !is_searched(running.queued))
      limit_changed(running.queued.kind);
  }
}

// Explains why a device has no job after all jobs that fit were started.
std::string Scheduler::why_idle(int device) {
  if (const auto found = waits_for_.find(device); found != waits_for_.end())
    return cat("used by ", found->second);
  if (draining_) return "the batch was to start no more";
  if (paused_) return "the batch was paused";
  if (!queue_.any([&](std::int64_t id) { return wants_devices(id); }))
    return "no job for a GPU was ready";
  if (static_cast<int>(running_.size()) >= resources_.slots()) return "no slot was free";
  return "no cores were free, or a job waits for more devices";
}

// Records how long devices were idle, and why. A period is written when a job starts on the device
// or the reason changes.
void Scheduler::look_at_idle_devices(bool at_end) {
  constexpr double least_s = 0.05;
  const double now = clock_.wall_s();
  for (std::size_t i = 0; i < occupancy_.size(); ++i) {
    Occupancy& occupancy = occupancy_[i];
    const bool idle = occupancy.jobs == 0;
    const std::string why = idle ? why_idle(static_cast<int>(i)) : std::string();
    const bool goes_on = idle && !at_end && why == occupancy.idle_why;
    if (occupancy.idle_since > 0 && !goes_on) {
      if (now >= occupancy.idle_since + least_s)
        ledger_.idle(resources_.all().devices[i], occupancy.idle_since, now, occupancy.idle_why);
      occupancy.idle_since = 0;
    }
    if (idle && occupancy.idle_since == 0) {
      occupancy.idle_since = now;
      occupancy.idle_why = why;
    }
  }
}

// Learns from an attempt before it is recorded. The first try of a kind on the CPU or a GPU may
// show that the kind cannot run there. The failure then does not count against the job.
void Scheduler::learn(const RunningAttempt& running, Settled& settled, double together) {
  if (setting_ && is_searched(running.queued)) return learn_searched(running, settled);
  if (!is_packed(running.queued)) {
    if (settled.end.outcome == AttemptOutcome::out_of_memory && !settled.end.counts)
      alone_.insert(running.attempt.job);
    return;
  }
  Kind& kind = kind_of(running.queued);
  const bool done =
      settled.end.outcome == AttemptOutcome::done || settled.end.outcome == AttemptOutcome::skipped;
  const double duration_s = settled.end.ended - settled.end.started;
  if (running.trial != Choice::unknown) {
    const auto cores = static_cast<double>(resources_.all().cores.size());
    const int on_cpu =
        std::max(1, static_cast<int>(cores / std::max(running.queued.cpus, 1e-3) + 1e-9));
    const auto on_gpus = static_cast<int>(resources_.all().devices.size());
    const int at_once =
        std::min(running.trial == Choice::cpu ? on_cpu : on_gpus, resources_.slots());
    const bool ended = settled.end.outcome != AttemptOutcome::stopped &&
                       settled.end.outcome != AttemptOutcome::cancelled;
    if (ended && kind.choice.trial_ended(running.trial, done, duration_s, at_once))
      note(kind.choice.why());
    if (ended && !done && forgiven_.insert(running.attempt.job).second) {
      settled.end.counts = false;
      settled.state = JobState::waiting;
      settled.not_before = 0;
    }
    if (!ended) kind.choice.trial_stopped(running.trial);
  }
  if (!running.placement.devices.empty()) {
    bool changed = false;
    if (settled.end.outcome == AttemptOutcome::out_of_memory) {
      if (!settled.end.counts) alone_.insert(running.attempt.job);
      changed = running.most_together > 1 && kind.packing.out_of_memory();
    } else if (settled.end.outcome == AttemptOutcome::done) {
      // The time of a job that ran during the measurement is the first value for comparison.
      changed = kind.packing.ended(
          {.duration_s = duration_s, .together = together, .limit = running.limit});
      if (changed) limit_changed(running.queued.kind);
      changed = kind.packing.saw(running.sight.peak_bytes, running.sight.activity_percent());
    }
    if (changed) limit_changed(running.queued.kind);
  }
  keep(running.queued.kind);
}

// Learns from a job of a search. Trials decide how many jobs share a device, and this measures
// their memory.
void Scheduler::learn_searched(const RunningAttempt& running, Settled& settled) {
  if (ran_out_of_memory(running, settled.end)) begin_again(running, settled);
  if (!is_packed(running.queued)) return;
  Packing& packing = kind_of(running.queued).packing;
  if (settled.end.outcome == AttemptOutcome::done)
    packing.saw(running.sight.peak_bytes, running.sight.activity_percent());
  keep(running.queued.kind);
}

// Lets a job begin again, once without counting a try, and alone on its device. A job that is
// killed again needs more memory than there is.
void Scheduler::begin_again(const RunningAttempt& running, Settled& settled) {
  const std::int64_t job = running.attempt.job;
  if (!running.placement.devices.empty()) alone_.insert(job);
  if (settled.end.outcome == AttemptOutcome::out_of_memory || !forgiven_.insert(job).second) return;
  settled.end.counts = false;
  settled.state = JobState::waiting;
  settled.not_before = 0;
}

// Running jobs get the same share of the device as jobs that start from now on.
void Scheduler::limit_changed(const std::string& kind) {
  const Packing& packing = kinds_.at(kind).packing;
  for (auto& [id, running] : running_)
    if (is_packed(running.queued) && running.queued.kind == kind &&
        !alone_.contains(running.attempt.job) && !running.placement.devices.empty())
      resources_.reshare(running.placement, 1.0 / packing.per_device());
  note(packing.why());
}

void Scheduler::keep(const std::string& kind) {
  const Kind& found = kinds_.at(kind);
  ledger_.set_fact("packing " + kind, found.packing.text());
  if (const std::string choice = found.choice.text(); !choice.empty())
    ledger_.set_fact("auto " + kind, choice);
}

void Scheduler::note(const std::string& text) {
  ledger_.note(text);
  if (on_note_) on_note_(text);
}

}  // namespace lockstep
