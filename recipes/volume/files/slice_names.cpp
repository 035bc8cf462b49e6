// Sorts the names of slices. Runs of digits are compared as numbers of any length.
#include "recipes/volume/files/slice_names.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/base/text/text.h"
#include "core/base/whole_number.h"

namespace lockstep::volume {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes the digits at the front and returns them without leading zeros.
std::string_view take_number(std::string_view& text) {
  const auto end =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

struct Numbered {
  std::string prefix;
  std::int64_t number;
};

std::optional<Numbered> numbered(const std::string& name) {
  const std::string stem = std::filesystem::path(name).stem().string();
  std::size_t digits = 0;
  while (digits < stem.size() && is_digit(stem[stem.size() - 1 - digits])) ++digits;
  const auto number =
      whole_number<std::int64_t>(std::string_view(stem).substr(stem.size() - digits));
  if (!number) return std::nullopt;
  return Numbered{stem.substr(0, stem.size() - digits), *number};
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_number(a), y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // for equal numbers, such as "z1" and "z01"
}

std::string find_gap(const std::vector<std::string>& names) {
  std::vector<Numbered> found;
  for (const std::string& name : names) {
    std::optional<Numbered> one = numbered(name);
    if (!one) return {};
    found.push_back(std::move(*one));
  }
  std::int64_t step = 0;  // the smallest step, because every tenth slice is a valid stack too
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (found[i].prefix != found[0].prefix)
      return cat("it holds slices of two series, ", names[0], " and ", names[i]);
    const std::int64_t next = found[i].number - found[i - 1].number;
    if (next <= 0)
      return cat("it holds two slices of one number, ", names[i - 1], " and ", names[i]);
    step = step == 0 ? next : std::min(step, next);
  }
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i].number - found[i - 1].number != step)
      return cat("slices are missing between ", names[i - 1], " and ", names[i]);
  return {};
}

}  // namespace lockstep::volume
