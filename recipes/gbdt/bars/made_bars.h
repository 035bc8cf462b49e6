// Generates price series with a known signal.
#pragma once

#include "recipes/gbdt/bars/bars.h"

namespace lockstep::gbdt {

struct MadeBars {
  Day first = 0, last = 0;  // both included; every weekday has a bar
  std::uint64_t seed = 0;
};

// Daily bars by a rule. The logarithm of the close moves by a normal number of deviation 1.2 % plus
// a drift. The drift is +1 % after each close whose RSI 14 is below 40, -1 % after one above 60,
// else 0. So the next bars can be predicted from the features, though not with certainty. Open,
// high and low lie around the closes; the volume is larger where the move is larger. The same
// symbol and seed give the same series, which starts from 100 at `first`.
Bars make_bars(const std::string& symbol, const MadeBars& how);

// The names of generated series: "MADE01", "MADE02", ….
std::vector<std::string> made_symbols(int count);
bool is_made_symbol(const std::string& name);  // one of them, of any count

}  // namespace lockstep::gbdt
