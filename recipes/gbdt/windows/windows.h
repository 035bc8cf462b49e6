// Divides time into windows, and the rows of a symbol in each window into training, validation and
// test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/features/features.h"

namespace lockstep::gbdt {

// The days from `start` to the one before `end`.
struct Window {
  Day start = 0, end = 0;
  bool is_everything = false;  // whether it has all rows, for a file without a time
  friend bool operator==(const Window&, const Window&) = default;
};

// Returns a text like "AAPL_2022-01-01_to_2022-06-30", or only the symbol if the window is
// everything.
std::string window_label(const std::string& symbol, const Window& window);
// Both return a text like "2022-01-01", or an empty text if the window is everything.
std::string start_text(const Window& window);
std::string end_text(const Window& window);

inline constexpr int shortest_window_days = 7;
inline constexpr std::size_t fewest_rows = 20;

struct WindowRange {
  Day start = 0, end = 0;  // windows lie within; `end` is excluded
  int window_days = 180, stride_days = 180;
};

// Returns the windows of a range. A window begins every stride_days. The window that reaches the
// end of the range is cut there and is the last one. The last window must have at least
// shortest_window_days. From 2022-01-01 to 2024-12-01 by 180 days, there are six. Throws Error if
// the range has no room for a window.
std::vector<Window> calendar_windows(const WindowRange& range);

// The requirement on the test days after a window. The number of test days equals the number of
// days in the window.
enum class TestWindow {
  full,  // if prices do not cover all test days, the window is left out
  part,  // test on the test days that have prices
  none,  // no test
};

// Whether prices whose last bar is of the day `last` cover all days before `end`. Up to three days
// without prices may remain, because markets pause at weekends.
bool covers(Day last, Day end);

// The rows of one symbol for a window, as indexes into its bars, in the order of time.
struct WindowRows {
  std::vector<std::size_t> train, valid, test;
  std::size_t embargoed = 0;  // rows left out between the parts
  std::string skip;           // why this window cannot be trained; empty if it can
};

struct SplitOptions {
  std::size_t horizon = 7;  // in bars; also the length of the embargo
  double valid_share = 0.2;
  TestWindow test = TestWindow::part;
  bool looks_ahead = true;  // whether labels depend on later bars, which must exist
  // the following are for bars without a time
  double test_share = 0.2;
  // whether the rows of each part are chosen at random, or in the order of the file
  bool shuffle = true;
  std::uint64_t seed = 0;
};

// Divides the rows of a window into three parts. Training comes first, then validation, then the
// test in the days after the window. Rows without all features or without a label (NaN) are not
// used. Between two parts is an embargo. A row at most `horizon` bars before the later part is not
// used, because its label may depend on that part.
//
// A window is skipped, with the reason, in these cases:
//   - There are too few bars before it for the features.
//   - There are fewer than `horizon` bars from window.end on, and labels depend on later bars.
//   - The test needs days without prices, and options.test is `full`.
//   - The window has fewer than fewest_rows rows, or no row is left for training or validation.
//
// Groups are never divided. The horizon then counts groups instead of bars. valid_share still
// counts rows, but validation begins with a whole group. A group that crosses an edge of the window
// is not used.
//
// If bars have no time, all rows are distributed without an embargo. The share of the test is taken
// first, and then the share of validation from the rest. Both shares count groups, if there are
// groups.
WindowRows split_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window,
                      const SplitOptions& options);

// Describes the rows of the window that have a label but not all features. Names the features that
// most of them lack: "16 of 91 rows lack features (adx_14 in 16, rsi_14 in 14)". Returns an empty
// text if there are no such rows.
std::string lost_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window);

// Returns the latest end that a window can have if its labels are computed from these bars.
Day latest_end(const Bars& bars, const SplitOptions& options);

// Returns the days in which a symbol has windows, if the user gives none. These days begin with the
// first day that has `warm_up` bars before it, and end with the day of the last bar. Returns
// nothing if there is no such day. Returns everything if bars have no time.
std::optional<Window> whole_range(const Bars& bars, std::size_t warm_up = warm_up_bars);

}  // namespace lockstep::gbdt
