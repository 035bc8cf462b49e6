// Shows the progress of a running batch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/devices/device.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/schedule/scheduler.h"

namespace lockstep::cli {

// On a terminal, shows a changing table of devices and slots, with failures above it. Elsewhere,
// prints a line from time to time.
class BatchView {
 public:
  BatchView(const Scheduler& scheduler, const BatchFolder& batch,
            const std::vector<Device>& devices);
  double interval_s() const;  // seconds between two calls of `show`
  void ended(const RunningAttempt& running, const Settled& settled);
  void note(const std::string& text);
  void show();
  void finish();

 private:
  std::string line() const;
  void draw();
  void clear();
  void tell_waits();

  const Scheduler& scheduler_;
  BatchFolder batch_;
  std::vector<Device> devices_;
  std::map<int, std::string> told_waits_;
  bool terminal_;
  std::size_t drawn_ = 0;  // number of lines of the table on the screen
  double begun_s_, shown_s_;
  std::int64_t done_at_begin_, told_failures_ = 0;
};

}  // namespace lockstep::cli
