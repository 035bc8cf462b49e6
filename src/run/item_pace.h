// Whether an item that is predicted now would end in time, by how long those before it took.
#pragma once

#include "base/clock.h"

namespace lockstep {

// One rank's. Without a limit everything fits.
class ItemPace {
 public:
  // ends_s: on the clock; 0: no limit. expected_s: what an item takes, as far as anybody knows.
  ItemPace(Clock& clock, double ends_s, double expected_s)
      : clock_(clock), ends_s_(ends_s), expected_s_(expected_s) {}

  // A task whose inputs have so many bytes (0: not known) begins.
  void begin(double bytes);
  void end();
  bool fits(double bytes) const;

 private:
  double expected_s(double bytes) const;

  Clock& clock_;
  double ends_s_, expected_s_;
  double begun_s_ = 0, begun_bytes_ = 0;
  // Of tasks that ended: seconds, bytes and seconds of those whose bytes are known, the longest.
  double longest_s_ = 0, bytes_ = 0, bytes_s_ = 0;
};

}  // namespace lockstep
