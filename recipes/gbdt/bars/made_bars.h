// Price series that are made, with a signal that is known to be there.
#pragma once

#include "recipes/gbdt/bars/bars.h"

namespace lockstep::gbdt {

struct MadeBars {
  Day first = 0, last = 0;  // both included; weekdays have a bar
  std::uint64_t seed = 0;
};

// Daily bars by a rule: the logarithm of the close moves by a normal number of deviation 1.2 % plus
// a drift of +1 % after each close whose RSI 14 is below 40, -1 % after one above 60, else 0. So
// what the next bars do can be learnt from the features, though not surely. Open, high and low lie
// around the closes; the volume is larger where the move is. The same symbol and seed give the same
// series, from 100 at `first`.
Bars make_bars(const std::string& symbol, const MadeBars& how);

// "MADE01", "MADE02", …: what made series are called.
std::vector<std::string> made_symbols(int count);
bool is_made_symbol(const std::string& name);  // one of them, of any count

}  // namespace lockstep::gbdt
