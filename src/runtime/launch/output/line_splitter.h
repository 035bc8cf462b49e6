// Cuts a stream of bytes into lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace lockstep {

class LineSplitter {
 public:
  using Take = std::function<void(std::string_view)>;  // one line, without its newline
  explicit LineSplitter(Take take) : take_(std::move(take)) {}
  void add(std::string_view bytes);
  void finish();  // passes the text after the last newline to `take`, unless it is empty

 private:
  // A longer line is cut here, so that memory stays bounded.
  static constexpr std::size_t most_in_a_line = 1 << 20;
  Take take_;
  std::string rest_;
};

}  // namespace lockstep
