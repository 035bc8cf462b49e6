#include "runtime/launch/output/line_splitter.h"

namespace lockstep {

void LineSplitter::add(std::string_view bytes) {
  for (std::size_t newline; (newline = bytes.find('\n')) != bytes.npos;) {
    const std::string_view line = bytes.substr(0, newline);
    if (rest_.empty()) {
      take_(line);
    } else {
      std::string whole = std::move(rest_);
      rest_.clear();
      take_(whole.append(line));
    }
    bytes.remove_prefix(newline + 1);
  }
  rest_.append(bytes);
  if (rest_.size() >= most_in_a_line) finish();
}

void LineSplitter::finish() {
  if (rest_.empty()) return;
  const std::string line = std::move(rest_);
  rest_.clear();
  take_(line);
}

}  // namespace lockstep
