#include "tools/monitor/sampler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/process/signal_mask.h"

namespace lockstep {
struct Sampler::Shared {
  std::shared_ptr<GpuReader> reader;
  std::vector<std::size_t> positions;
  double interval_s = 1;
  Clock* clock = nullptr;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<const MonitorSample> newest;
  double began_s = 0;
  bool reading = false, stop = false;
  std::thread thread;

  void run();
  MonitorSample take(long long number, double cpu_before_s, double since_s) const;
};

MonitorSample Sampler::Shared::take(long long number, double cpu_before_s, double since_s) const {
  MonitorSample sample{.number = number, .wall_s = clock->wall_s(), .at_s = clock->now_s()};
  for (const std::size_t position : positions) sample.gpus.push_back(reader->read(position));
  const double now = clock->now_s();
  sample.reading_s = now - sample.at_s;
  if (now > since_s) sample.self_cpu = (process_cpu_s() - cpu_before_s) / (now - since_s);
  return sample;
}

void Sampler::Shared::run() {
  double due = clock->now_s(), cpu_before = process_cpu_s(), since = due;
  for (long long number = 1;; ++number) {
    {
      const std::lock_guard lock(mutex);
      if (stop) return;
      reading = true;
      began_s = clock->now_s();
    }
    auto sample = std::make_shared<MonitorSample>(take(number, cpu_before, since));
    cpu_before = process_cpu_s();
    since = clock->now_s();
    // After a late sample, the next one is taken at once. Missed samples are not made up for.
    due = std::max(due + interval_s, since);
    std::unique_lock lock(mutex);
    reading = false;
    newest = std::move(sample);
    changed.notify_all();
    changed.wait_for(lock, std::chrono::duration<double>(due - clock->now_s()),
                     [&] { return stop; });
  }
}

Sampler::Sampler(std::shared_ptr<GpuReader> reader, std::vector<std::size_t> positions,
                 double interval_s, Clock& clock)
    : shared_(std::make_shared<Shared>()) {
  shared_->reader = std::move(reader);
  shared_->positions = std::move(positions);
  shared_->interval_s = interval_s;
  shared_->clock = &clock;
  // Signals must reach the threads that wait for them.
  const BlockedSignals blocked;
  shared_->thread = std::thread([shared = shared_] { shared->run(); });
}

Sampler::~Sampler() {
  if (!shared_->thread.joinable()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->changed.notify_all();
  shared_->thread.join();
}

std::shared_ptr<const MonitorSample> Sampler::next(long long seen, double timeout_s) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, std::chrono::duration<double>(timeout_s),
                            [&] { return shared_->newest && shared_->newest->number > seen; });
  return shared_->newest && shared_->newest->number > seen ? shared_->newest : nullptr;
}

double Sampler::hanging_s() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->reading ? shared_->clock->now_s() - shared_->began_s : 0;
}

void Sampler::abandon() {
  if (!shared_->thread.joinable()) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->thread.detach();
}

}  // namespace lockstep
