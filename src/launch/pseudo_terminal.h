// A terminal for a program whose output somebody reads and passes on to a real one.
#pragma once

#include "base/fd.h"

namespace lockstep {

struct PseudoTerminal {
  UniqueFd ours, theirs;
};

// Nothing is changed on its way through it. As wide as `like`, a terminal, less `narrower` columns.
// Empty where there is none to be had.
PseudoTerminal make_pseudo_terminal(int like, int narrower);
// Takes over another size of `like`.
void follow_size(const UniqueFd& ours, int like, int narrower);

}  // namespace lockstep
