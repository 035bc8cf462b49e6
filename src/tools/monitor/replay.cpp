#include "tools/monitor/replay.h"

#include <algorithm>
#include <utility>

namespace lockstep {

Replay::Replay(Recording& recording, std::vector<std::size_t> positions, double speed, Clock& clock)
    : recording_(recording), positions_(std::move(positions)), speed_(speed), clock_(clock) {
  read();
}

void Replay::read() {
  waiting_ = recording_.next();
  ended_ = !waiting_;
  if (!waiting_) return;
  std::vector<GpuSample> chosen;
  for (const std::size_t position : positions_) chosen.push_back(waiting_->gpus.at(position));
  waiting_->gpus = std::move(chosen);
}

std::shared_ptr<const MonitorSample> Replay::next(long long, double timeout_s) {
  if (!waiting_) return nullptr;
  if (!begun_) {
    begun_ = true;
    began_s_ = clock_.now_s();
    first_at_s_ = waiting_->at_s;
  }
  const double due = began_s_ + (waiting_->at_s - first_at_s_) / speed_;
  const double wait = due - clock_.now_s();
  if (wait > 0) clock_.sleep_s(std::min(wait, std::max(0.0, timeout_s)));
  if (wait > timeout_s) return nullptr;
  auto sample = std::make_shared<const MonitorSample>(std::move(*waiting_));
  read();
  return sample;
}

}  // namespace lockstep
