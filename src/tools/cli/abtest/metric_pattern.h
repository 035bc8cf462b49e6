// Finds a number in a program's output with a regular expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::cli {

class MetricPattern {
 public:
  // pattern: in PCRE2 syntax; ^ and $ match at each line. If the pattern is invalid, throws Error
  // with the fault and its position.
  explicit MetricPattern(const std::string& pattern);
  ~MetricPattern();
  MetricPattern(MetricPattern&&) noexcept;
  MetricPattern& operator=(MetricPattern&&) noexcept;

  // Returns the first group of the last match in the text, or the whole match if the pattern has no
  // group. Returns nothing if there is no match. Throws Error if a search takes too long.
  std::optional<std::string> last_in(std::string_view text) const;
  // Returns the result of last_in as a number. Throws Error if there is no match, or if the text is
  // not a finite number.
  double number_in(std::string_view text) const;
  const std::string& pattern() const { return pattern_; }

 private:
  struct Code;
  std::string pattern_;
  std::unique_ptr<Code> code_;
};

}  // namespace lockstep::cli
