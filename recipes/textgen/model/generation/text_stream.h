// Turns the bytes of generated tokens into text: whole characters, up to a stop string.
#pragma once

#include "core/base/text/utf8.h"

#include <functional>
#include <string>
#include <string_view>

namespace lockstep::textgen {

// Passes text to `out` as early as possible. An incomplete character is held back until the rest of
// it arrives. Text that may be the beginning of the stop string is also held back. The stop string
// and all text after it are dropped. Bytes that are not UTF-8 become U+FFFD. A character that is
// still incomplete at the end is dropped.
class TextStream {
 public:
  // If `stop` is empty, the stream never stops.
  TextStream(std::string stop, std::function<void(const std::string&)> out);

  void push(std::string_view bytes);
  // Call it after the last push(). Passes on the text that is held back because it may have been
  // the beginning of the stop string.
  void finish();
  bool stopped() const { return stopped_; }  // whether the stop string was found

 private:
  void release(std::size_t count);

  std::string stop_;
  std::function<void(const std::string&)> out_;
  std::string held_;
  Utf8Stream characters_;
  bool stopped_ = false;
};

}  // namespace lockstep::textgen
