// Divides time into windows, and divides the rows of a symbol for each window into training,
// validation and test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/features/features.h"

namespace lockstep::gbdt {

// A window of time: the days from `start` to the day before `end`.
struct Window {
  Day start = 0, end = 0;
  bool is_everything = false;  // whether it has all rows, because the rows have no time
  friend bool operator==(const Window&, const Window&) = default;
};

// Returns a text like "AAPL_2022-01-01_to_2022-06-30", or only the symbol if is_everything is true.
std::string window_label(const std::string& symbol, const Window& window);
// Both functions return a text like "2022-01-01", or an empty text if is_everything is true.
std::string start_text(const Window& window);
std::string end_text(const Window& window);

inline constexpr int shortest_window_days = 7;
inline constexpr std::size_t fewest_rows = 20;

struct WindowRange {
  Day start = 0, end = 0;  // all windows lie within it; `end` is excluded
  int window_days = 180, stride_days = 180;
};

// Returns the windows of a range. A window begins every stride_days and has window_days. The first
// window that reaches the end of the range is cut there and is the last one. The last window must
// have at least shortest_window_days. For example, there are six windows of 180 days from
// 2022-01-01 to 2024-12-01. Throws Error if the range has no room for a window.
std::vector<Window> calendar_windows(const WindowRange& range);

// The requirement on the test days, which follow the window. There are as many test days as the
// window has days.
enum class TestWindow {
  full,  // if prices do not cover all test days, the window is not trained
  part,  // test on those test days that have prices
  none,  // no test
};

// Whether prices cover all days before `end`, if the last bar is of the day `last`. Up to three
// days between `last` and `end` may have no prices, because markets pause at weekends.
bool covers(Day last, Day end);

// The rows of one symbol for a window, as indexes into its bars, in the order of time.
struct WindowRows {
  std::vector<std::size_t> train, valid, test;
  std::size_t embargoed = 0;  // rows that the embargo leaves out
  std::string skip;           // why this window cannot be trained; empty if it can
};

struct SplitOptions {
  std::size_t horizon = 7;  // in bars; also the length of the embargo
  double valid_share = 0.2;
  TestWindow test = TestWindow::part;
  bool looks_ahead = true;  // whether labels depend on later bars
  // this member and the members below are for bars without a time
  double test_share = 0.2;
  // true: the rows of each part are chosen at random; false: in the order of the file
  bool shuffle = true;
  std::uint64_t seed = 0;
};

// Divides rows into three parts. The training rows come first in the window, then the validation
// rows. The test rows are in the days after the window. Rows that are not FeatureTable::complete or
// have no label (NaN) are not used. Between two parts, there is an embargo. A row at most `horizon`
// bars before the later part is not used, because its label may depend on that part.
//
// A window is skipped, with the reason, in these cases:
//   - There are too few bars before it for the features.
//   - Labels depend on later bars, and there are fewer than `horizon` bars from window.end on.
//   - options.test is `full`, and prices do not cover all test days.
//   - The window has fewer than fewest_rows usable rows.
//   - After the embargo, no row is left for training or validation.
//
// If bars have groups, no group is divided between parts. The horizon then counts groups instead of
// bars. valid_share still counts rows, but validation begins with a whole group. A group that
// crosses an edge of the window is not used.
//
// If bars have no time, all rows are divided without an embargo. The test takes its share first,
// and then validation takes its share of the rest. If there are groups, both shares count groups
// instead of rows.
WindowRows split_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window,
                      const SplitOptions& options);

// Describes the rows of the window that have a label but lack features. Names the features that
// most of these rows lack: "16 of 91 rows lack features (adx_14 in 16, rsi_14 in 14)". Returns an
// empty text if there are no such rows.
std::string lost_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window);

// Returns the latest Window::end for which these bars suffice to compute the labels.
Day latest_end(const Bars& bars, const SplitOptions& options);

// Returns the days in which a symbol has windows, if the user gives no start and end. They begin
// with the first day that has `warm_up` bars before it, and end with the day of the last bar.
// Returns nothing if no day has `warm_up` bars before it. If bars have no time, returns a window
// whose is_everything is true.
std::optional<Window> whole_range(const Bars& bars, std::size_t warm_up = warm_up_bars);

}  // namespace lockstep::gbdt
