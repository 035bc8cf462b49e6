// A terminal for a program whose output is read and passed on to a real one.
#pragma once

#include "core/base/files/fd.h"

namespace lockstep {

struct PseudoTerminal {
  UniqueFd ours, theirs;
};

// A pseudo-terminal that passes bytes unchanged. It is as wide as the terminal `like`, less
// `narrower` columns. Empty if none can be had.
PseudoTerminal make_pseudo_terminal(int like, int narrower);
// Adopts a changed size of `like`.
void follow_size(const UniqueFd& ours, int like, int narrower);

}  // namespace lockstep
