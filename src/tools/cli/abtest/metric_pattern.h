// Finds a number in a program's output with a regular expression.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::cli {

class MetricPattern {
 public:
  // PCRE2 syntax; ^ and $ match at each line. Throws Error with the fault and its place.
  explicit MetricPattern(const std::string& pattern);
  ~MetricPattern();
  MetricPattern(MetricPattern&&) noexcept;
  MetricPattern& operator=(MetricPattern&&) noexcept;

  // Finds the last match in the text: its first group, or the whole match if there are no groups.
  // Nothing if there is no match. Throws Error if a search takes too long.
  std::optional<std::string> last_in(std::string_view text) const;
  // Parses the text of last_in. Throws Error if there is no match, or if it is not a finite number.
  double number_in(std::string_view text) const;
  const std::string& pattern() const { return pattern_; }

 private:
  struct Code;
  std::string pattern_;
  std::unique_ptr<Code> code_;
};

}  // namespace lockstep::cli
