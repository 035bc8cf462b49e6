// Reads the numbers of one line of JSON without building a value: a long run has a million lines.
#pragma once

#include <functional>
#include <string_view>

namespace lockstep {

// Names are as in the line, including escapes.
struct LineNumber {
  std::string_view key;    // at the top level
  int place = -1;          // index in a list at the top level, from 0
  std::string_view inner;  // in an object one level below, or in a list there; else ""
  double value = 0;        // NaN for null
};

// Calls `visit` for every number and null of the object, down to objects in lists one level below
// the top: {"memory": [{"peak": 1}]} gives "memory", "peak". Deeper ones are skipped. Returns false
// if the line is not a whole object; then only values before the fault were visited.
bool visit_numbers(std::string_view line, const std::function<void(const LineNumber&)>& visit);

}  // namespace lockstep
