// The numbers of one line of JSON without building a value of it: a long run has a million lines.
#pragma once

#include <functional>
#include <string_view>

namespace lockstep {

// Names are as they stand in the line, escapes and all.
struct LineNumber {
  std::string_view key;    // at the top
  int place = -1;          // in a list at the top, from 0
  std::string_view inner;  // of an object one level below, or in a list there; else ""
  double value = 0;        // NaN: null
};

// Calls `visit` for every number and null of the object, down to objects in lists one level below
// the top: {"memory": [{"peak": 1}]} gives "memory", "peak". Deeper ones are passed over. False:
// the line is no whole object; then what was visited is what came before the fault.
bool visit_numbers(std::string_view line, const std::function<void(const LineNumber&)>& visit);

}  // namespace lockstep
