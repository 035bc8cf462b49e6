// Bytes of generated tokens on their way to a reader: whole characters, up to a stop string.
#pragma once

#include "core/base/text/utf8.h"

#include <functional>
#include <string>
#include <string_view>

namespace lockstep::textgen {

// Passes text on as soon as it is certain: never part of a character, nothing that may be the
// beginning of the stop string, and neither the stop string nor what follows it. Bytes that are not
// UTF-8 become U+FFFD; a character that is not complete at the end is left out.
class TextStream {
 public:
  // An empty `stop` never stops.
  TextStream(std::string stop, std::function<void(const std::string&)> out);

  void push(std::string_view bytes);
  void finish();                             // passes on what might have become the stop string
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
