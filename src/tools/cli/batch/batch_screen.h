// Makes the table of a running batch for a terminal: the state of each device and slot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

struct ScreenDevice {
  std::string name;                              // "GPU 0"
  std::optional<double> activity_percent;        // activity of its SMs
  std::int64_t used_bytes = 0, total_bytes = 0;  // 0 if unknown
  int jobs = 0;
  std::string waits_for;  // the other user of the device for whom jobs wait; "" if there is none
};

struct ScreenSlot {
  int slot = 0;
  std::string job, where;  // "GPU 0", "cores 2-3"
  double seconds = 0;
};

// Returns at most `height` lines of at most `width` cells. Slots that do not fit are only counted.
std::vector<std::string> batch_screen(const std::string& counts,
                                      const std::vector<ScreenDevice>& devices,
                                      const std::vector<ScreenSlot>& slots, int width, int height);

}  // namespace lockstep::cli
