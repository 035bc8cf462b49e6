// The table of a running batch on a terminal: what each device and slot does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::cli {

struct ScreenDevice {
  std::string name;                              // "GPU 0"
  std::optional<double> activity_percent;        // of its SMs
  std::int64_t used_bytes = 0, total_bytes = 0;  // 0: unknown
  int jobs = 0;
  std::string waits_for;  // who has it; "": it is ours, or free
};

struct ScreenSlot {
  int slot = 0;
  std::string job, where;  // "GPU 0", "cores 2-3"
  double seconds = 0;
};

// Lines of at most `width` cells, at most `height` of them; slots that do not fit are counted.
std::vector<std::string> batch_screen(const std::string& counts,
                                      const std::vector<ScreenDevice>& devices,
                                      const std::vector<ScreenSlot>& slots, int width, int height);

}  // namespace lockstep::cli
