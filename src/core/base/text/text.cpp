// Small helpers for text in messages.
#include "core/base/text/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace lockstep {
namespace {

std::string formatted(const char* format, int digits, double value) {
  const int length = std::snprintf(nullptr, 0, format, digits, value);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), format, digits, value);
  text.pop_back();
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// The number of insertions, deletions, substitutions and swaps of neighbours (optimal string
// alignment). Returns `limit` if the number is not below `limit`. The lengths must differ by less
// than `limit`. `rows` is working memory.
std::size_t edit_distance(std::string_view word, std::string_view name, std::size_t limit,
                          std::vector<std::size_t>& rows) {
  const char *a = word.data(), *b = name.data();
  const std::size_t width = name.size() + 1;
  rows.assign(3 * width, limit);
  std::size_t *before = rows.data(), *last = before + width, *row = last + width;
  for (std::size_t j = 0; j < width; ++j) last[j] = j;
  for (std::size_t i = 1; i <= word.size(); ++i) {
    // Cells further from the diagonal are not below the limit.
    const std::size_t from = i > limit ? i - limit : 1, to = std::min(width - 1, i + limit - 1);
    row[from - 1] = from == 1 ? i : limit;
    std::size_t least = row[from - 1];
    for (std::size_t j = from; j <= to; ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min(changed, std::min(last[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    if (to + 1 < width) row[to + 1] = limit;
    if (least >= limit) return limit;  // no later row is better
    std::swap(before, last);
    std::swap(last, row);
  }
  return std::min(last[name.size()], limit);
}

// Three significant digits without trailing zeros: "1", "1.5", "12.3", "812".
std::string three_digits(double value) {
  const double size = std::abs(value);
  std::string text = fixed(value, size < 10 ? 2 : size < 100 ? 1 : 0);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string fixed(double value, int digits) { return formatted("%.*f", digits, value); }
std::string scientific(double value, int digits) { return formatted("%.*e", digits, value); }
std::string general(double value, int digits) { return formatted("%.*g", digits, value); }

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::string wanted = lower(word);
  const std::size_t limit = std::max<std::size_t>(1, (wanted.size() + 1) / 3);
  std::string best;
  std::size_t best_distance = limit + 1;
  std::vector<std::size_t> rows;
  for (const std::string& candidate : candidates) {
    const std::string name = lower(candidate);
    // The distance is at least the difference in length, so a much longer or shorter name is
    // skipped.
    const std::size_t least =
        std::max(wanted.size(), name.size()) - std::min(wanted.size(), name.size());
    std::size_t distance =
        least < best_distance ? edit_distance(wanted, name, best_distance, rows) : least;
    // A match of the last part alone, such as "lr" for "optimizer.lr", counts like one typing
    // error.
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && name.substr(dot + 1) == wanted)
      distance = std::min<std::size_t>(distance, 1);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view without_byte_order_mark(std::string_view text) {
  while (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split(without_byte_order_mark(text), '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

std::string trim(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(spaces) - first + 1));
}

std::string shell_word(const std::string& text) {
  const char* const plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string format_bytes(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return cat(three_digits(bytes), " ", units[unit]);
}

std::string format_count(double count) {
  constexpr std::array units{"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  while (std::abs(count) >= 999.5 && unit + 1 < units.size()) {
    count /= 1000;
    ++unit;
  }
  return cat(three_digits(count), units[unit]);
}

std::string errno_text(int error) { return std::generic_category().message(error); }

}  // namespace lockstep
