#include "recipes/gbdt/windows/windows.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace lockstep::gbdt {
namespace {

// The first bar of that day or a later one.
std::size_t first_bar(const Bars& bars, Day day) {
  return static_cast<std::size_t>(std::lower_bound(bars.days.begin(), bars.days.end(), day) -
                                  bars.days.begin());
}

std::vector<std::size_t> usable_rows(const Bars& bars, const FeatureTable& features,
                                     const std::vector<double>& labels, const Window& days) {
  std::vector<std::size_t> rows;
  const std::size_t end = first_bar(bars, days.end);
  for (std::size_t row = first_bar(bars, days.start); row < end; ++row)
    if (!std::isnan(labels[row]) && features.complete(row)) rows.push_back(row);
  return rows;
}

// Why the prices do not reach far enough; "": they do.
std::string too_short(const Bars& bars, std::size_t warm_up, const Window& window,
                      const SplitOptions& options) {
  const std::size_t before = first_bar(bars, window.start), end = first_bar(bars, window.end);
  if (before < warm_up)
    return cat("features need ", warm_up, " bars before ", to_text(window.start), ", but ",
               bars.symbol, " has ", before);
  if (options.looks_ahead && bars.size() - end < options.horizon)
    return cat("the prices of ", bars.symbol, " end at ", to_text(bars.days.back()),
               ", but labels need ", options.horizon, " bars from ", to_text(window.end), " on");
  const Day test_end = window.end + (window.end - window.start);
  if (options.test == TestWindow::full && !covers(bars.days.back(), test_end))
    return cat("the prices of ", bars.symbol, " end at ", to_text(bars.days.back()),
               ", but the test needs them until ", to_text(test_end));
  return "";
}

}  // namespace

std::string window_label(const std::string& symbol, const Window& window) {
  return cat(symbol, "_", to_text(window.start), "_to_", to_text(window.end));
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

// Markets close for up to four days around a weekend.
bool covers(Day last, Day end) {
  constexpr int longest_pause_days = 4;
  return last + longest_pause_days >= end;
}

WindowRows split_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window,
                      const SplitOptions& options) {
  WindowRows split;
  split.skip = too_short(bars, features.warm_up, window, options);
  if (!split.skip.empty()) return split;
  const std::vector<std::size_t> rows = usable_rows(bars, features, labels, window);
  if (rows.size() < fewest_rows) {
    split.skip = cat("it has ", rows.size(), " rows with all features and a label, fewer than ",
                     fewest_rows);
    return split;
  }
  // A row is out where its label looks at a bar of the next part.
  const auto before = [&](std::size_t end_bar) {
    return static_cast<std::ptrdiff_t>(std::lower_bound(rows.begin(), rows.end(), end_bar,
                                                        [&](std::size_t row, std::size_t end) {
                                                          return row + options.horizon < end;
                                                        }) -
                                       rows.begin());
  };
  const std::ptrdiff_t valid_end = before(first_bar(bars, window.end));
  const auto valid_rows = static_cast<std::ptrdiff_t>(
      std::llround(options.valid_share * static_cast<double>(valid_end)));
  const std::ptrdiff_t valid_begin = valid_end - valid_rows;
  const std::ptrdiff_t train_end =
      valid_rows == 0 ? valid_end : before(rows[static_cast<std::size_t>(valid_begin)]);
  split.train.assign(rows.begin(), rows.begin() + train_end);
  split.valid.assign(rows.begin() + valid_begin, rows.begin() + valid_end);
  split.embargoed = rows.size() - split.train.size() - split.valid.size();
  if (options.test != TestWindow::none)
    split.test =
        usable_rows(bars, features, labels, {window.end, window.end + (window.end - window.start)});
  if (split.train.empty() || (valid_rows == 0 && options.valid_share > 0))
    split.skip = cat("an embargo of ", options.horizon, " bars leaves no rows to ",
                     split.train.empty() ? "train on" : "validate on", " of ", rows.size());
  return split;
}

std::optional<Window> whole_range(const Bars& bars, std::size_t warm_up) {
  if (bars.size() <= warm_up) return std::nullopt;
  return Window{bars.days[warm_up], bars.days.back() + 1};
}

}  // namespace lockstep::gbdt
