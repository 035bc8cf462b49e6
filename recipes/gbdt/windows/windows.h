// Divides time into windows, and the rows of a symbol in each window into training, validation and
// test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/features/features.h"

namespace lockstep::gbdt {

// The days from `start` until before `end`.
struct Window {
  Day start = 0, end = 0;
  bool is_everything = false;  // all rows, for a file without a time
  friend bool operator==(const Window&, const Window&) = default;
};

// "AAPL_2022-01-01_to_2022-06-30"; if it is everything, "iris".
std::string window_label(const std::string& symbol, const Window& window);
// "2022-01-01"; "" if it is everything.
std::string start_text(const Window& window);
std::string end_text(const Window& window);

inline constexpr int shortest_window_days = 7;
inline constexpr std::size_t fewest_rows = 20;

struct WindowRange {
  Day start = 0, end = 0;  // the windows lie within this; `end` is excluded
  int window_days = 180, stride_days = 180;
};

// Windows begin every stride_days. The last one ends with the range, and exists if it has at least
// shortest_window_days. From 2022-01-01 to 2024-12-01 by 180 days, there are six. Throws Error for
// a range without room for a window.
std::vector<Window> calendar_windows(const WindowRange& range);

// The requirement on the test days after a window. There are as many of them as days in the window.
enum class TestWindow {
  full,  // prices must cover these days; otherwise the window is left out
  part,  // test on as many of these days as exist
  none,  // no test
};

// Whether prices that end with the bar of the day `last` cover all days before `end`.
bool covers(Day last, Day end);

// Rows of one symbol (indexes into its bars), in the order of time.
struct WindowRows {
  std::vector<std::size_t> train, valid, test;
  std::size_t embargoed = 0;  // rows left out between the three parts
  std::string skip;           // why this window cannot be trained; "": it can
};

struct SplitOptions {
  std::size_t horizon = 7;  // bars; also the embargo
  double valid_share = 0.2;
  TestWindow test = TestWindow::part;
  bool looks_ahead = true;  // labels depend on later bars, which must exist
  // Without a time:
  double test_share = 0.2;
  // choose the rows of each part at random; otherwise in the order of the file
  bool shuffle = true;
  std::uint64_t seed = 0;
};

// Training comes first, then validation, then the test in the following window. Between two parts,
// `horizon` rows are not used, because their labels depend on the later part. Rows without all
// features or without a label (NaN) are not used. A window is skipped if the prices end before
// window.end and `horizon` bars, if there are too few bars before it for the features, if it has
// fewer than fewest_rows rows, or if no row is left for a part. Groups are never divided: the
// horizon and the shares then count groups instead of rows, and a group that crosses an edge of the
// window is not used. If bars have no time, all rows are distributed, the test first, then
// validation, without an embargo.
WindowRows split_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window,
                      const SplitOptions& options);

// Describes rows of the window that have a label but not all features, with the features that most
// of them lack: "16 of 91 rows lack features (adx_14 in 16, rsi_14 in 14)". "" if there are none.
std::string lost_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window);

// The latest end of a window whose labels can be computed from the bars.
Day latest_end(const Bars& bars, const SplitOptions& options);

// The days in which a symbol has windows, if they are not given: from the first day with `warm_up`
// bars before it to the day after the last one. Nothing if there is no such day.
std::optional<Window> whole_range(const Bars& bars, std::size_t warm_up = warm_up_bars);

}  // namespace lockstep::gbdt
