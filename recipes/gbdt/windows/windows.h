// Which windows of time there are, and which rows of a symbol serve for what in each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/features/features.h"

namespace lockstep::gbdt {

// The days from `start` on, without `end`.
struct Window {
  Day start = 0, end = 0;
  bool is_everything = false;  // all rows, of a file without a time
  friend bool operator==(const Window&, const Window&) = default;
};

// "AAPL_2022-01-01_to_2022-06-30"; of everything "iris".
std::string window_label(const std::string& symbol, const Window& window);
// "2022-01-01"; of everything "".
std::string start_text(const Window& window);
std::string end_text(const Window& window);

inline constexpr int shortest_window_days = 7;
inline constexpr std::size_t fewest_rows = 20;

struct WindowRange {
  Day start = 0, end = 0;  // the windows lie within; `end` is not in it
  int window_days = 180, stride_days = 180;
};

// Windows begin every stride_days; the last one ends with the range, and is there if it has at
// least shortest_window_days. 2022-01-01 to 2024-12-01 by 180 days are six. Throws Error for a
// range that has room for none.
std::vector<Window> calendar_windows(const WindowRange& range);

// The requirement on the days after a window, which are as many as in the window.
enum class TestWindow {
  full,  // the prices reach their end, or the window is left out
  part,  // as many as there are
  none,  // no test
};

// Whether prices that end with the bar of the day `last` cover all days before `end`.
bool covers(Day last, Day end);

// Rows of one symbol (indexes into its bars), in the order of time.
struct WindowRows {
  std::vector<std::size_t> train, valid, test;
  std::size_t embargoed = 0;  // between the three
  std::string skip;           // why this window cannot be trained; "": it can
};

struct SplitOptions {
  std::size_t horizon = 7;  // bars; also the embargo
  double valid_share = 0.2;
  TestWindow test = TestWindow::part;
  bool looks_ahead = true;  // labels are of later bars, which must be there
  // Without a time:
  double test_share = 0.2;
  bool shuffle = true;  // draw the rows of each part, else take them as the file has them
  std::uint64_t seed = 0;
};

// Training comes first, then validation, then the test in the following window. Between two parts
// lie `horizon` rows that serve for neither, because their labels look into the later part. Rows
// without all features or without a label (NaN) serve for nothing. A window is skipped if the
// prices end before window.end and `horizon` bars, if too few bars for the features lie before it,
// if it has fewer than fewest_rows rows, and if no row is left for a part. Groups are never torn:
// the horizon and the shares then count groups instead of rows, and a group that reaches over an
// edge of the window serves for nothing. If bars have no time, all rows are shared out, the test
// first, then validation, without an embargo.
WindowRows split_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window,
                      const SplitOptions& options);

// Rows of the window that have a label but not all features, with the features that most of them
// lack: "16 of 91 rows lack features (adx_14 in 16, rsi_14 in 14)". "": there are none.
std::string lost_rows(const Bars& bars, const FeatureTable& features,
                      const std::vector<double>& labels, const Window& window);

// The latest end of a window whose labels the bars still tell.
Day latest_end(const Bars& bars, const SplitOptions& options);

// The days that a symbol has windows in, if they are not given: from the first day with
// `warm_up` bars before it to the day after the last one. Nothing if there is no such day.
std::optional<Window> whole_range(const Bars& bars, std::size_t warm_up = warm_up_bars);

}  // namespace lockstep::gbdt
