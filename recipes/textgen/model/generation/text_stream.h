// Passes the bytes of generated tokens to a reader: whole characters, up to a stop string.
#pragma once

#include "core/base/text/utf8.h"

#include <functional>
#include <string>
#include <string_view>

namespace lockstep::textgen {

// Passes text on as soon as it is certain. It never passes on a part of a character, or text that
// may be the beginning of the stop string. It does not pass on the stop string and what follows it.
// Bytes that are not UTF-8 become U+FFFD. A character that is incomplete at the end is left out.
class TextStream {
 public:
  // An empty `stop` never stops.
  TextStream(std::string stop, std::function<void(const std::string&)> out);

  void push(std::string_view bytes);
  // passes on text that might have become the stop string
  void finish();
  bool stopped() const { return stopped_; }  // the stop string has come

 private:
  void release(std::size_t count);

  std::string stop_;
  std::function<void(const std::string&)> out_;
  std::string held_;
  Utf8Stream characters_;
  bool stopped_ = false;
};

}  // namespace lockstep::textgen
