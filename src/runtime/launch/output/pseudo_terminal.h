// A terminal for a program whose output is read and passed on to a real terminal.
#pragma once

#include "core/base/files/fd.h"

namespace lockstep {

struct PseudoTerminal {
  UniqueFd ours, theirs;
};

// A pseudo-terminal that passes bytes unchanged. Its width is that of the terminal `like`, less
// `narrower` columns. Empty if the system has none left.
PseudoTerminal make_pseudo_terminal(int like, int narrower);
// Applies a changed size of `like`.
void follow_size(const UniqueFd& ours, int like, int narrower);

}  // namespace lockstep
