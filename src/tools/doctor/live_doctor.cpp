#include "tools/doctor/live_doctor.h"

#include <chrono>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/process/signal_mask.h"
#include "core/base/text/text.h"
#include "tools/doctor/report.h"

namespace lockstep {

void LiveDoctor::add(const MonitorSample& sample) {
  constexpr std::size_t kept = 15;
  newest_.push_back(sample);
  if (newest_.size() > kept) newest_.pop_front();
}

bool LiveDoctor::is_asking() const {
  return answer_.valid() && answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

bool LiveDoctor::is_ready() {
  constexpr double ask_again_s = 60;  // faults may occur during the session
  const double now_s = system_clock().now_s();
  const bool is_due = asked_s_ == 0 || now_s - asked_s_ >= ask_again_s;
  if (is_due && !answer_.valid()) {
    asked_s_ = now_s;
    std::packaged_task<Evidence()> task(machine_);
    answer_ = task.get_future();
    const BlockedSignals blocked;
    std::thread(std::move(task)).detach();
  }
  if (answer_.valid() && !is_asking()) {
    try {
      Evidence newer = answer_.get();
      if (evidence_) newer.snapshots = std::move(evidence_->snapshots);
      evidence_ = std::move(newer);
      failed_.clear();
    } catch (const std::exception& error) {
      failed_ = error.what();
    }
  }
  return evidence_.has_value();
}

std::string LiveDoctor::text(int pid, int width) {
  if (newest_.empty()) return "";
  const std::string looking = "doctor: looking; findings come with the next samples\n";
  if (!is_ready()) return failed_.empty() ? looking : cat("doctor: cannot look: ", failed_, "\n");
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
