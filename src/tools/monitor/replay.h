// Replays a recording as a source of samples, at its original pace or another.
#pragma once

#include <optional>

#include "core/base/clock.h"
#include "tools/monitor/recording.h"
#include "tools/monitor/sample_source.h"

namespace lockstep {

class Replay final : public SampleSource {
 public:
  // positions: the recording's GPUs to show. speed: 10 is ten times as fast. The recording must
  // outlive it.
  Replay(Recording& recording, std::vector<std::size_t> positions, double speed,
         Clock& clock = system_clock());
  // Throws Error if the recording is damaged. Each sample comes at its time, and none is left out.
  std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s) override;
  bool ended() const override { return ended_; }

 private:
  void read();

  Recording& recording_;
  std::vector<std::size_t> positions_;
  double speed_;
  Clock& clock_;
  std::optional<MonitorSample> waiting_;  // until its time
  double first_at_s_ = 0, began_s_ = 0;
  bool begun_ = false, ended_ = false;
};

}  // namespace lockstep
