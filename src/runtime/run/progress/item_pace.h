// Predicts from earlier items whether an item that begins now would finish before a time limit.
#pragma once

#include "core/base/clock.h"

namespace lockstep {

// Measures the tasks of one rank. A task is an item to predict, or a piece of one. Not thread-safe.
class ItemPace {
 public:
  // ends_s: the time limit, as a time of `clock`; 0 = no limit. expected_s: the expected duration
  // of an item, which is used until the first item has finished.
  ItemPace(Clock& clock, double ends_s, double expected_s)
      : clock_(clock), ends_s_(ends_s), expected_s_(expected_s) {}

  // Begins a task whose inputs have this many bytes; 0 = unknown.
  void begin(double bytes);
  void end();
  // Whether an item with inputs of this size would finish in time. Always true without a time
  // limit.
  bool fits(double bytes) const;

 private:
  double expected_s(double bytes) const;

  Clock& clock_;
  double ends_s_, expected_s_;
  double begun_s_ = 0, begun_bytes_ = 0;
  // longest_s_: the longest duration of a finished task. bytes_, bytes_s_: bytes and seconds of all
  // finished tasks whose bytes are known.
  double longest_s_ = 0, bytes_ = 0, bytes_s_ = 0;
};

}  // namespace lockstep
