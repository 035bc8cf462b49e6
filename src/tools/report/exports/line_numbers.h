// Reads the numbers in one line of JSON without building a JSON value, because a long run has a
// million lines.
#pragma once

#include <functional>
#include <string_view>

namespace lockstep {

// A number in a line. Names are as in the line, including escapes.
struct LineNumber {
  std::string_view key;  // name at the top level
  int place = -1;        // index in a list at the top level, from 0; -1 if there is no list
  // name in an object one level below the top, or in an object of a list there; else empty
  std::string_view inner;
  double value = 0;  // NaN for null
};

// Calls `visit` for every number and null of the object. It reads down to objects in lists one
// level below the top: {"memory": [{"peak": 1}]} gives "memory" and "peak". Deeper values are
// skipped. Returns false if the line is not a whole object. In that case, only values before the
// fault were visited.
bool visit_numbers(std::string_view line, const std::function<void(const LineNumber&)>& visit);

}  // namespace lockstep
