#include "tools/report/exports/line_numbers.h"

#include <charconv>
#include <cmath>

namespace lockstep {
namespace {

class LineScan {
 public:
  LineScan(std::string_view line, const std::function<void(const LineNumber&)>& visit)
      : at_(line.data()), end_(at_ + line.size()), visit_(visit) {}

  bool all() {
    skip_space();
    if (!take('{') || !object(0)) return false;
    skip_space();
    return at_ == end_;
  }

 private:
  static constexpr int most_levels = 100;

  // The level at which names of an inner object are reported. Inside a list it is one deeper.
  int inner_level() const { return place_ >= 0 ? 2 : 1; }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  // Reads a text up to its closing quote. The opening quote was already read.
  bool text(std::string_view& inside) {
    const char* const begin = at_;
    for (; at_ != end_ && *at_ != '"'; ++at_)
      if (*at_ == '\\' && ++at_ == end_) return false;
    if (at_ == end_) return false;
    inside = {begin, static_cast<std::size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  bool object(int level) {
    skip_space();
    if (take('}')) return true;
    for (;;) {
      skip_space();
      std::string_view name;
      if (!take('"') || !text(name)) return false;
      if (level == 0) key_ = name, place_ = -1, inner_ = {};
      if (level == inner_level()) inner_ = name;
      skip_space();
      if (!take(':') || !value(level)) return false;
      skip_space();
      if (take('}')) return true;
      if (!take(',')) return false;
    }
  }

  bool list(int level) {
    skip_space();
    if (take(']')) return true;
    for (;;) {
      if (level == 1) ++place_, inner_ = {};
      if (!value(level)) return false;
      skip_space();
      if (take(']')) return true;
      if (!take(',')) return false;
    }
  }

  bool value(int level) {
    skip_space();
    if (at_ == end_ || level > most_levels) return false;
    if (take('"')) {
      std::string_view ignored;
      return text(ignored);
    }
    if (take('{')) return object(level + 1);
    if (take('[')) return list(level + 1);
    return word(level);
  }

  bool word(int level) {
    const auto is_word = [&](std::string_view wanted) {
      if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(wanted))
        return false;
      at_ += wanted.size();
      return true;
    };
    if (is_word("true") || is_word("false")) return true;
    double number = NAN;
    if (!is_word("null")) {
      // from_chars would accept "nan" too
      const char* const first = at_ + (at_ != end_ && *at_ == '-');
      if (first == end_ || *first < '0' || *first > '9') return false;
      const auto [end, error] = std::from_chars(at_, end_, number);
      if (error != std::errc() && error != std::errc::result_out_of_range) return false;
      if (error != std::errc()) number = NAN;
      at_ = end;
    }
    const bool is_inner = level == inner_level() && !inner_.empty();
    if (level == 0 || is_inner || (level == 1 && place_ >= 0))
      visit_({.key = key_, .place = place_, .inner = inner_, .value = number});
    return true;
  }

  const char* at_;
  const char* end_;
  const std::function<void(const LineNumber&)>& visit_;
  std::string_view key_, inner_;
  int place_ = -1;
};

}  // namespace

bool visit_numbers(std::string_view line, const std::function<void(const LineNumber&)>& visit) {
  return LineScan(line, visit).all();
}

}  // namespace lockstep
