// An interface to the system's clocks, so that tests can use a fake clock.
#pragma once

namespace lockstep {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now_s() = 0;   // monotonic seconds
  virtual double wall_s() = 0;  // unix seconds
  virtual void sleep_s(double seconds) = 0;
};

Clock& system_clock();

}  // namespace lockstep
