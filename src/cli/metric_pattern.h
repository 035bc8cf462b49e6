// A number in what a program prints, found by a regular expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::cli {

class MetricPattern {
 public:
  // PCRE2's syntax; ^ and $ hold at each line. Throws Error: what is wrong, and where.
  explicit MetricPattern(const std::string& pattern);
  ~MetricPattern();
  MetricPattern(MetricPattern&&) noexcept;
  MetricPattern& operator=(MetricPattern&&) noexcept;

  // The last match in the text: its first group, or without groups all of it. Nothing where there
  // is none. Throws Error where a search takes too long.
  std::optional<std::string> last_in(std::string_view text) const;
  // The number of last_in. Throws Error where there is no match, or it is no finite number.
  double number_in(std::string_view text) const;
  const std::string& pattern() const { return pattern_; }

 private:
  struct Code;
  std::string pattern_;
  std::unique_ptr<Code> code_;
};

}  // namespace lockstep::cli
