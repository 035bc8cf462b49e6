#include "tools/jobs/matrix/matrix_range.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/parse.h"
#include "tools/jobs/matrix/matrix.h"

namespace lockstep {
namespace {

namespace chrono = std::chrono;

// An exact number: digits * 10^exponent.
struct Decimal {
  std::int64_t digits = 0;
  int exponent = 0;
};

constexpr double most_digits = 1e17;
constexpr int most_exponent = 300;

[[noreturn]] void fail_number(std::string_view text) {
  throw Error(cat("a range counts numbers, but ", text, " is none that it can count with"),
              "write {from = 1, to = 10, step = 1}");
}

Decimal parse_decimal(std::string_view text) {
  const auto real = detail::parse_real(text);
  if (!real) fail_number(text);
  std::string digits;
  int exponent = 0;
  bool after_point = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') after_point = true;
    if (c == '-' || (c >= '0' && c <= '9')) digits += c;
    if (after_point && c >= '0' && c <= '9') --exponent;
    if (c != 'e' && c != 'E') continue;
    const std::string_view power = text.substr(text[i + 1] == '+' ? i + 2 : i + 1);
    exponent += whole_number<int>(power, -most_exponent, most_exponent).value_or(most_exponent);
    break;
  }
  const auto value = whole_number<std::int64_t>(digits, -static_cast<std::int64_t>(most_digits),
                                                static_cast<std::int64_t>(most_digits));
  if (!value || std::abs(exponent) > most_exponent) fail_number(text);
  return {*value, exponent};
}

// The digits of the number for a smaller or equal exponent.
std::int64_t at_exponent(const Decimal& number, int exponent, std::string_view text) {
  double size = static_cast<double>(std::abs(number.digits));
  std::int64_t digits = number.digits;
  for (int e = number.exponent; e > exponent && digits != 0; --e) {
    if ((size *= 10) > most_digits) fail_number(text);
    digits *= 10;
  }
  return digits;
}

std::string decimal_text(std::int64_t digits, int exponent) {
  if (exponent == 0) return std::to_string(digits);
  double value = 0;
  const std::string text = cat(digits, "e", exponent);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return detail::format_real(value);
}

[[noreturn]] void fail_direction(std::string_view from, std::string_view to,
                                 std::string_view step) {
  throw Error(cat("the range from ", from, " to ", to, " in steps of ", step, " has no values"),
              "a step leads from the first value towards the last");
}

// The number of values, including both ends. Returns 0 if there are none. Throws Error if there are
// too many.
std::int64_t count_steps(std::int64_t from, std::int64_t to, std::int64_t step) {
  if (step == 0 || (step > 0 ? from > to : from < to)) return 0;
  const std::int64_t count = (to - from) / step + 1;
  check_job_count(static_cast<double>(count), "values of one range");
  return count;
}

std::optional<chrono::year_month_day> parse_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = whole_number<int>(text.substr(0, 4), 1);
  const auto month = whole_number<unsigned>(text.substr(5, 2), 1);
  const auto day = whole_number<unsigned>(text.substr(8, 2), 1);
  if (!year || !month || !day) return std::nullopt;
  const chrono::year_month_day date{chrono::year(*year), chrono::month(*month), chrono::day(*day)};
  return date.ok() ? std::optional(date) : std::nullopt;
}

std::string date_text(chrono::year_month_day date) {
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", int(date.year()), unsigned(date.month()),
                unsigned(date.day()));
  return text;
}

struct DateStep {
  int count = 0;
  bool months = false;  // false: days
};

DateStep parse_date_step(std::string_view text) {
  const std::string step = trim(text);
  const std::size_t digits = step.find_first_not_of("-0123456789");
  const auto count = whole_number<int>(step.substr(0, digits), -100000, 100000);
  const std::string unit = digits == step.npos ? "" : step.substr(digits);
  if (count && *count != 0) {
    if (unit == "d") return {*count, false};
    if (unit == "w") return {*count * 7, false};
    if (unit == "mo") return {*count, true};
    if (unit == "y") return {*count * 12, true};
  }
  throw Error(cat("\"", text, "\" is no step between dates"),
              "write days, weeks, months or years: 180d, 2w, 1mo, 1y");
}

chrono::year_month_day date_after(chrono::year_month_day from, const DateStep& step,
                                  std::int64_t times) {
  if (!step.months) return chrono::sys_days(from) + chrono::days(times * step.count);
  const chrono::year_month_day moved = from + chrono::months(times * step.count);
  return moved.ok() ? moved : moved.year() / moved.month() / chrono::last;
}

}  // namespace

std::vector<std::string> number_range(std::string_view from, std::string_view to,
                                      std::string_view step) {
  const Decimal first = parse_decimal(from), last = parse_decimal(to), by = parse_decimal(step);
  const int exponent = std::min({0, first.exponent, last.exponent, by.exponent});
  const std::int64_t begin = at_exponent(first, exponent, from);
  const std::int64_t stride = at_exponent(by, exponent, step);
  const std::int64_t count = count_steps(begin, at_exponent(last, exponent, to), stride);
  if (count == 0) fail_direction(from, to, step);
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(decimal_text(begin + i * stride, exponent));
  return values;
}

std::vector<std::string> date_range(std::string_view from, std::string_view to,
                                    std::string_view step) {
  const auto first = parse_date(from), last = parse_date(to);
  if (!first || !last)
    throw Error(cat("\"", first ? to : from, "\" is not a date"), "write it as 2022-01-31");
  const DateStep by = parse_date_step(step);
  const auto inside = [&](chrono::year_month_day date) {
    return by.count > 0 ? date <= *last : date >= *last;
  };
  if (!inside(*first)) fail_direction(from, to, step);
  std::vector<std::string> values;
  for (std::int64_t i = 0;; ++i) {
    const chrono::year_month_day date = date_after(*first, by, i);
    if (!inside(date) || int(date.year()) < 1 || int(date.year()) > 9999) return values;
    values.push_back(date_text(date));
    check_job_count(static_cast<double>(values.size()), "values of one range");
  }
}

bool is_date(std::string_view text) { return parse_date(text).has_value(); }

}  // namespace lockstep
