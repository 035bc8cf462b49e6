// Replays a recording as a source of samples, at its original speed or at another speed.
#pragma once

#include <optional>

#include "core/base/clock.h"
#include "tools/monitor/recording.h"
#include "tools/monitor/sample_source.h"

namespace lockstep {

class Replay final : public SampleSource {
 public:
  // positions: indexes of the GPUs to show, among the GPUs of the recording. speed: 10 is ten times
  // as fast. recording must outlive this object.
  Replay(Recording& recording, std::vector<std::size_t> positions, double speed,
         Clock& clock = system_clock());
  // Waits until the time of the next sample, and returns that sample. No sample is skipped; the
  // argument `seen` is not used. Throws Error if the recording is damaged.
  std::shared_ptr<const MonitorSample> next(long long seen, double timeout_s) override;
  bool ended() const override { return ended_; }

 private:
  void read();

  Recording& recording_;
  std::vector<std::size_t> positions_;
  double speed_;
  Clock& clock_;
  std::optional<MonitorSample> waiting_;  // the next sample, which waits for its time
  double first_at_s_ = 0, began_s_ = 0;
  bool begun_ = false, ended_ = false;
};

}  // namespace lockstep
