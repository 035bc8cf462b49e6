#include "tools/cli/abtest/metric_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/parse.h"

namespace lockstep::cli {
namespace {

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

}  // namespace

struct MetricPattern::Code {
  pcre2_code* compiled = nullptr;
  bool has_group = false;
  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(compiled); }
};

MetricPattern::MetricPattern(const std::string& pattern)
    : pattern_(pattern), code_(std::make_unique<Code>()) {
  int error = 0;
  PCRE2_SIZE place = 0;
  code_->compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                  PCRE2_MULTILINE, &error, &place, nullptr);
  if (code_->compiled == nullptr)
    throw Error(cat("--metric: ", message_of(error), " at character ", place + 1, " of ", pattern),
                "for example --metric 'loss ([0-9.]+)'");
  std::uint32_t groups = 0;
  pcre2_pattern_info(code_->compiled, PCRE2_INFO_CAPTURECOUNT, &groups);
  code_->has_group = groups > 0;
}

MetricPattern::~MetricPattern() = default;
MetricPattern::MetricPattern(MetricPattern&&) noexcept = default;
MetricPattern& MetricPattern::operator=(MetricPattern&&) noexcept = default;

std::optional<std::string> MetricPattern::last_in(std::string_view text) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(
      pcre2_match_data_create_from_pattern(code_->compiled, nullptr));
  const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(match.get());
  const std::size_t group = code_->has_group ? 1 : 0;
  std::optional<std::string> last;
  for (std::size_t at = 0; at <= text.size();) {
    const int found = pcre2_match(code_->compiled, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                  text.size(), at, 0, match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0)
      throw Error(cat("--metric ", pattern_, " cannot be searched for: ", message_of(found)),
                  "write the pattern so that it has fewer ways to match");
    // A group that did not match has no position.
    if (ends[2 * group] != PCRE2_UNSET && ends[2 * group] <= ends[2 * group + 1])
      last = std::string(text.substr(ends[2 * group], ends[2 * group + 1] - ends[2 * group]));
    at = ends[1] > at ? ends[1] : at + 1;
  }
  return last;
}

double MetricPattern::number_in(std::string_view text) const {
  const std::optional<std::string> found = last_in(text);
  if (!found) throw Error(cat("nothing in its output matches --metric ", pattern_));
  const std::optional<double> number = detail::parse_real(trim(*found));
  if (!number)
    throw Error(cat("--metric ", pattern_, " found \"", printable(found->substr(0, 80)),
                    "\", which is no finite number"),
                "put parentheses round the number alone: 'loss ([0-9.]+)'");
  return *number;
}

}  // namespace lockstep::cli
