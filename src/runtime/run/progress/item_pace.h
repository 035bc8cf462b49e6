// Predicts from earlier items whether an item that begins now would finish in time.
#pragma once

#include "core/base/clock.h"

namespace lockstep {

// For one rank. Without a time limit, every item fits.
class ItemPace {
 public:
  // ends_s: the limit on the clock; 0 = none. expected_s: the expected duration of an item until
  // one has finished.
  ItemPace(Clock& clock, double ends_s, double expected_s)
      : clock_(clock), ends_s_(ends_s), expected_s_(expected_s) {}

  // Begins a task whose inputs have this many bytes; 0 = unknown.
  void begin(double bytes);
  void end();
  bool fits(double bytes) const;

 private:
  double expected_s(double bytes) const;

  Clock& clock_;
  double ends_s_, expected_s_;
  double begun_s_ = 0, begun_bytes_ = 0;
  // Over finished tasks: the longest duration, and bytes and seconds of those whose bytes are
  // known.
  double longest_s_ = 0, bytes_ = 0, bytes_s_ = 0;
};

}  // namespace lockstep
