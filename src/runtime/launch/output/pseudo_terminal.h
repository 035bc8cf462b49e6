// A terminal for a child whose output this process reads and passes on to a real terminal.
#pragma once

#include "core/base/files/fd.h"

namespace lockstep {

struct PseudoTerminal {
  UniqueFd ours, theirs;
};

// Makes a pseudo-terminal that passes bytes unchanged. Its width is the width of the terminal
// `like`, less `narrower` columns. Both descriptors are empty if it cannot be made.
PseudoTerminal make_pseudo_terminal(int like, int narrower);
// Call it when the size of the terminal `like` has changed. Resizes the pseudo-terminal in the same
// way.
void follow_size(const UniqueFd& ours, int like, int narrower);

}  // namespace lockstep
