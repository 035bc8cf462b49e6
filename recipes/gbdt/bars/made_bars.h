// Generates price series with a known signal.
#pragma once

#include "recipes/gbdt/bars/bars.h"

namespace lockstep::gbdt {

struct MadeBars {
  Day first = 0, last = 0;  // both included; every weekday has a bar
  std::uint64_t seed = 0;
};

// Generates daily bars. In each bar, the logarithm of the close changes by a drift plus a normal
// random number with a standard deviation of 0.012. The drift is 0.01 if the feature RSI 14 is
// below 40 at the previous bar, and -0.01 if it is above 60. Otherwise, the drift is 0. So features
// predict the next bars, though not with certainty. Open, high and low lie around the closes. The
// volume is larger if the change is larger. The close before the first bar is 100. The same symbol,
// seed and first day give the same series.
Bars make_bars(const std::string& symbol, const MadeBars& how);

// Returns the names of generated series: "MADE01", "MADE02", ….
std::vector<std::string> made_symbols(int count);
bool is_made_symbol(const std::string& name);  // whether made_symbols has the name for some `count`

}  // namespace lockstep::gbdt
