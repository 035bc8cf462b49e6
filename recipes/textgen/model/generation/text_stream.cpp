// Outputs the bytes of generated tokens as whole characters, up to a stop string.
#include "recipes/textgen/model/generation/text_stream.h"

#include <algorithm>
#include <utility>

namespace lockstep::textgen {
namespace {

// The length of the longest suffix of `text` that is a proper prefix of `stop`.
std::size_t possible_stop(std::string_view text, std::string_view stop) {
  if (stop.empty()) return 0;
  for (std::size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n)
    if (text.substr(text.size() - n) == stop.substr(0, n)) return n;
  return 0;
}

}  // namespace

TextStream::TextStream(std::string stop, std::function<void(const std::string&)> out)
    : stop_(std::move(stop)), out_(std::move(out)) {}

void TextStream::push(std::string_view bytes) {
  if (stopped_) return;
  held_ += bytes;
  const std::size_t found = stop_.empty() ? std::string::npos : held_.find(stop_);
  stopped_ = found != std::string::npos;
  release(stopped_ ? found : held_.size() - possible_stop(held_, stop_));
  if (stopped_) held_.clear();
}

void TextStream::finish() { release(held_.size()); }

void TextStream::release(std::size_t count) {
  const std::string text = characters_.push(std::string_view(held_).substr(0, count));
  held_.erase(0, count);
  if (!text.empty()) out_(text);
}

}  // namespace lockstep::textgen
