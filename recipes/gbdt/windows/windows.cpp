#include "recipes/gbdt/windows/windows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"

namespace lockstep::gbdt {
namespace {

// The first bar on or after a day.
std::size_t first_bar(const Bars& bars, Day day) {
  return static_cast<std::size_t>(std::lower_bound(bars.days.begin(), bars.days.end(), day) -
                                  bars.days.begin());
}

// The group of a row, or the row itself if there are no groups. For the row after the last one,
// returns the last group plus 1.
std::size_t unit_of(const Bars& bars, std::size_t row) {
  if (bars.groups.empty()) return row;
  return static_cast<std::size_t>(row < bars.size() ? bars.groups[row] : bars.groups.back() + 1);
}

std::vector<std::size_t> rows_between(const Bars& bars, const FeatureTable& features,
                                      const std::vector<double>& labels, std::size_t begin,
                                      std::size_t end) {
  const bool grouped = !bars.groups.empty();
  const auto torn = [&](std::size_t row) {
    return (begin > 0 && bars.groups[begin - 1] == bars.groups[row]) ||
           (end < bars.size() && bars.groups[end] == bars.groups[row]);
  };
  std::vector<std::size_t> rows;
  for (std::size_t row = begin; row < end; ++row)
    if (!std::isnan(labels[row]) && features.complete(row) && !(grouped && torn(row)))
      rows.push_back(row);
  return rows;
}

std::vector<std::size_t> usable_rows(const Bars& bars, const FeatureTable& features,
                                     const std::vector<double>& labels, const Window& days) {
  return rows_between(bars, features, labels, first_bar(bars, days.start),
                      first_bar(bars, days.end));
}

std::string too_few(std::size_t rows, const std::string& lost) {
  return cat("it has ", rows, " rows with all features and a label, fewer than ", fewest_rows,
             lost.empty() ? "" : ": ", lost);
}

std::size_t share_of(double share, std::size_t all) {
  return static_cast<std::size_t>(std::llround(share * static_cast<double>(all)));
}

// A Fisher-Yates shuffle with draws that depend only on the seed.
void shuffle(std::vector<std::size_t>& units, std::uint64_t seed) {
  Random random(seed, RandomStream::order, 0, 0);
  for (std::size_t i = units.size(); i > 1; --i)
    std::swap(units[i - 1], units[static_cast<std::size_t>(random.below(i))]);
}

// Splits rows without a time into training, validation and test. The shares are those of groups, or
// of rows if there are no groups.
WindowRows split_everything(const Bars& bars, const FeatureTable& features,
                            const std::vector<double>& labels, const SplitOptions& options) {
  WindowRows split;
  const std::vector<std::size_t> rows = rows_between(bars, features, labels, 0, bars.size());
  if (rows.size() < fewest_rows)
    split.skip = too_few(rows.size(), lost_rows(bars, features, labels, {.is_everything = true}));
  if (!split.skip.empty()) return split;
  std::vector<std::size_t> units;
  for (const std::size_t row : rows)
    if (units.empty() || units.back() != unit_of(bars, row)) units.push_back(unit_of(bars, row));
  if (options.shuffle) shuffle(units, options.seed);
  const std::size_t test =
      options.test == TestWindow::none ? 0 : share_of(options.test_share, units.size());
  const std::size_t valid = share_of(options.valid_share, units.size() - test);
  // r = training, v = validation, t = test
  std::vector<char> part(unit_of(bars, bars.size()), 'r');
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::size_t from_end = units.size() - i;
    part[units[i]] = from_end <= test ? 't' : from_end <= test + valid ? 'v' : 'r';
  }
  for (const std::size_t row : rows) {
    const char which = part[unit_of(bars, row)];
    (which == 't' ? split.test : which == 'v' ? split.valid : split.train).push_back(row);
  }
  if (split.train.empty() || (split.valid.empty() && options.valid_share > 0))
    split.skip = cat("no rows are left to ", split.train.empty() ? "train" : "validate", " on");
  return split;
}

// "; end=2024-11-20 is early enough", or "" if the window would be too short with that end.
std::string earlier_end(const Bars& bars, const Window& window, const SplitOptions& options) {
  const Day end = latest_end(bars, options);
  if (end - window.start < shortest_window_days) return "";
  return cat("; end=", to_text(end), " is early enough");
}

// The reason why the prices do not cover the window, or "" if they do.
std::string too_short(const Bars& bars, std::size_t warm_up, const Window& window,
                      const SplitOptions& options) {
  const std::size_t before = first_bar(bars, window.start), end = first_bar(bars, window.end);
  if (before < warm_up)
    return cat("features need ", warm_up, " bars before ", to_text(window.start), ", but ",
               bars.symbol, " has ", before);
  if (options.looks_ahead && unit_of(bars, bars.size()) - unit_of(bars, end) < options.horizon)
    return cat("the prices of ", bars.symbol, " end at ", to_text(bars.days.back()),
               ", but labels need ", options.horizon, " bars from ", to_text(window.end), " on",
               earlier_end(bars, window, options));
  const Day test_end = window.end + (window.end - window.start);
  if (options.test == TestWindow::full && !covers(bars.days.back(), test_end))
    return cat("the prices of ", bars.symbol, " end at ", to_text(bars.days.back()),
               ", but the test needs them until ", to_text(test_end));
  return "";
}

}  // namespace

std::string window_label(const std::string& symbol, const Window& window) {
  if (window.is_everything) return symbol;
  return cat(symbol, "_", to_text(window.start), "_to_", to_text(window.end));
}

std::string start_text(const Window& window) {
  return window.is_everything ? "" : to_text(window.start);
}

std::string end_text(const Window& window) {
  return window.is_everything ? "" : to_text(window.end);
}

std::vector<Window> calendar_windows(const WindowRange& range) {
  std::vector<Window> windows;
  for (Day start = range.start; range.end - start >= shortest_window_days;
       start += range.stride_days) {
    windows.push_back({start, std::min(start + range.window_days, range.end)});
    if (windows.back().end == range.end) break;
  }
  if (windows.empty())
    throw Error(
        cat("no window fits between start=", to_text(range.start), " and end=", to_text(range.end)),
        cat("a window has at least ", shortest_window_days, " days"));
  return windows;
}

// Whether prices up to `last` cover the days before `end`. The next bar may be up to four days
// after `last`, because markets close around weekends.
bool covers(Day last, Day end) {
  constexpr int longest_pause_days = 4;
  return last + longest_pause_days >= end;
}

Day latest_end(const Bars& bars, const SplitOptions& options) {
  if (!options.looks_ahead || bars.size() <= options.horizon) return bars.days.back() + 1;
  std::size_t row = bars.size() - options.horizon;
  const std::size_t last = unit_of(bars, bars.size());
  while (row > 0 && last - unit_of(bars, row) < options.horizon) --row;
  return bars.days[row];
}

WindowRows split_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window,
                      const SplitOptions& options) {
  if (bars.timeless) return split_everything(bars, features, labels, options);
  WindowRows split;
  split.skip = too_short(bars, features.warm_up, window, options);
  if (!split.skip.empty()) return split;
  const std::vector<std::size_t> rows = usable_rows(bars, features, labels, window);
  if (rows.size() < fewest_rows)
    split.skip = too_few(rows.size(), lost_rows(bars, features, labels, window));
  if (!split.skip.empty()) return split;
  // Rows are left out if their labels depend on a bar of the next part.
  const auto before = [&](std::size_t end_bar) {
    const std::size_t end_unit = unit_of(bars, end_bar);
    return static_cast<std::ptrdiff_t>(
        std::lower_bound(rows.begin(), rows.end(), end_unit,
                         [&](std::size_t row, std::size_t end) {
                           return unit_of(bars, row) + options.horizon < end;
                         }) -
        rows.begin());
  };
  const std::ptrdiff_t valid_end = before(first_bar(bars, window.end));
  const auto valid_rows = static_cast<std::ptrdiff_t>(
      share_of(options.valid_share, static_cast<std::size_t>(valid_end)));
  std::size_t valid_begin = static_cast<std::size_t>(valid_end - valid_rows);
  while (valid_rows > 0 && valid_begin > 0 &&
         unit_of(bars, rows[valid_begin - 1]) == unit_of(bars, rows[valid_begin]))
    --valid_begin;
  const std::ptrdiff_t train_end = valid_rows == 0 ? valid_end : before(rows[valid_begin]);
  split.train.assign(rows.begin(), rows.begin() + train_end);
  split.valid.assign(rows.begin() + static_cast<std::ptrdiff_t>(valid_begin),
                     rows.begin() + valid_end);
  split.embargoed = rows.size() - split.train.size() - split.valid.size();
  if (options.test != TestWindow::none)
    split.test =
        usable_rows(bars, features, labels, {window.end, window.end + (window.end - window.start)});
  if (split.train.empty() || (valid_rows == 0 && options.valid_share > 0))
    split.skip = cat("an embargo of ", options.horizon, bars.groups.empty() ? " bars" : " groups",
                     " leaves no rows to ", split.train.empty() ? "train on" : "validate on",
                     " of ", rows.size());
  return split;
}

std::string lost_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window) {
  const std::size_t begin = window.is_everything ? 0 : first_bar(bars, window.start);
  const std::size_t end = window.is_everything ? bars.size() : first_bar(bars, window.end);
  std::vector<std::size_t> lack(features.columns());
  std::size_t lost = 0, labelled = 0;
  for (std::size_t row = begin; row < end; ++row) {
    if (std::isnan(labels[row])) continue;
    ++labelled;
    if (features.complete(row)) continue;
    ++lost;
    for (std::size_t i = 0; i < features.columns(); ++i)
      if (std::isnan(features.row(row)[i])) ++lack[i];
  }
  if (lost == 0) return "";
  std::vector<std::size_t> order(features.columns());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lack[a] > lack[b]; });
  std::vector<std::string> words;
  constexpr std::size_t most_words = 3;
  for (const std::size_t i : order)
    if (lack[i] > 0 && words.size() < most_words)
      words.push_back(cat(features.names[i], " in ", lack[i]));
  return cat(lost, " of ", labelled, " rows lack features (", join(words, ", "), ")");
}

std::optional<Window> whole_range(const Bars& bars, std::size_t warm_up) {
  if (bars.timeless) return Window{.is_everything = true};
  if (bars.size() <= warm_up) return std::nullopt;
  // If too few bars come before a day with many bars, the window begins on the next day, as in
  // split_rows.
  std::size_t first = warm_up;
  if (first_bar(bars, bars.days[first]) < warm_up) first = first_bar(bars, bars.days[first] + 1);
  if (first == bars.size()) return std::nullopt;
  return Window{bars.days[first], bars.days.back() + 1};
}

}  // namespace lockstep::gbdt
