// A clock that moves only when a test moves it.
#pragma once

#include <vector>

#include "core/base/clock.h"

namespace lockstep {

class FakeClock final : public Clock {
 public:
  double now_s() override { return now; }
  double wall_s() override { return wall; }
  void sleep_s(double seconds) override {
    sleeps.push_back(seconds);
    advance(seconds);
  }
  void advance(double seconds) {
    now += seconds;
    wall += seconds;
  }

  double now = 0;
  double wall = 1.7e9;
  std::vector<double> sleeps;  // what was asked for, in order
};

}  // namespace lockstep
