// The system clock.
#include "core/base/clock.h"

#include <chrono>
#include <thread>

namespace lockstep {
namespace {

class SystemClock final : public Clock {
 public:
  double now_s() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  double wall_s() override {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  void sleep_s(double seconds) override {
    if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
};

}  // namespace

Clock& system_clock() {
  // Never destroyed, because threads may outlive main().
  static Clock* const clock = new SystemClock;
  return *clock;
}

}  // namespace lockstep
