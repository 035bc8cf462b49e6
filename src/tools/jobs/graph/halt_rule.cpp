#include "tools/jobs/graph/halt_rule.h"

#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep {
namespace {

[[noreturn]] void fail(std::string_view text) {
  throw Error(cat("--halt must be never, or soon or now with fail, success or done, but is ", text),
              "for example soon,fail=3 (no more begin after three failures), now,fail=10% (of all "
              "jobs), now,success=1");
}

// The index of the word in the list.
template <std::size_t size>
std::size_t place_of(std::string_view word, const std::array<std::string_view, size>& words,
                     std::string_view text) {
  for (std::size_t i = 0; i < size; ++i)
    if (words[i] == word) return i;
  fail(text);
}

}  // namespace

HaltRule::HaltRule(std::string_view text) : text_(text) {
  if (text == "never") return;
  const std::size_t comma = text.find(','), equals = text.find('=');
  if (comma == text.npos || equals == text.npos || equals < comma) fail(text);
  constexpr std::array<std::string_view, 2> hows{"soon", "now"};
  constexpr std::array<std::string_view, 3> whats{"fail", "success", "done"};
  how_ = place_of(text.substr(0, comma), hows, text) == 0 ? How::soon : How::now;
  what_ = static_cast<What>(place_of(text.substr(comma + 1, equals - comma - 1), whats, text));
  std::string_view value = text.substr(equals + 1);
  is_share_ = value.ends_with('%');
  if (is_share_) value.remove_suffix(1);
  const auto number = whole_number<std::int64_t>(value, 1, is_share_ ? 100 : 1'000'000'000);
  if (!number) fail(text);
  limit_ = static_cast<double>(*number) / (is_share_ ? 100 : 1);
}

bool HaltRule::counts(JobState state) const {
  switch (what_) {
    case What::fail:
      return state == JobState::failed;
    case What::success:
      return state == JobState::done;
    case What::done:
      return state == JobState::done || state == JobState::failed || state == JobState::skipped;
  }
  return false;
}

void HaltRule::count(JobState state, std::int64_t of) {
  if (how_ == How::never || !counts(state)) return;
  ++counted_;
  const double limit = is_share_ ? limit_ * static_cast<double>(of) : limit_;
  reached_ = reached_ || static_cast<double>(counted_) >= limit;
}

HaltRule::How HaltRule::due() {
  return reached_ && !std::exchange(said_, true) ? how_ : How::never;
}

std::string HaltRule::why() const {
  constexpr std::array words{"failed", "succeeded", "are over"};
  return cat(
      counted_, counted_ == 1 ? " job " : " jobs ",
      counted_ == 1 && what_ == What::done ? "is over" : words[static_cast<std::size_t>(what_)],
      " (--halt ", text_, ")");
}

}  // namespace lockstep
