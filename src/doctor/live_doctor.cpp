#include "doctor/live_doctor.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/signal_mask.h"
#include "doctor/report.h"

namespace lockstep {

void LiveDoctor::add(const MonitorSample& sample) {
  constexpr std::size_t kept = 15;
  newest_.push_back(sample);
  if (newest_.size() > kept) newest_.pop_front();
}

bool LiveDoctor::is_ready() {
  if (evidence_) return true;
  if (!answer_.valid()) {
    std::packaged_task<Evidence()> task(machine_);
    answer_ = task.get_future();
    const BlockedSignals blocked;
    std::thread(std::move(task)).detach();
  }
  if (answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
  evidence_ = answer_.get();
  return true;
}

std::string LiveDoctor::text(int pid, int width) {
  if (newest_.empty()) return "";
  const std::string looking = "doctor: looking; findings come with the next samples\n";
  if (!is_ready()) return looking;
  ProcessSnapshot snapshot = snapshot_of(system_clock().now_s(), pids_of(newest_.back()));
  if (pid != pid_) {
    pid_ = pid;
    evidence_->snapshots = {std::move(snapshot)};
    return looking;
  }
  evidence_->snapshots.resize(1);
  evidence_->snapshots.push_back(std::move(snapshot));
  evidence_->samples.assign(newest_.begin(), newest_.end());
  const Scene scene = make_scene(*evidence_);
  return findings_text(about(scene, diagnose(scene), pid), width);
}

}  // namespace lockstep
