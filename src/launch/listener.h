// The rendezvous socket of a run on one machine.
#pragma once

#include "base/fd.h"

namespace lockstep {

struct Listener {
  UniqueFd socket;  // listening on 127.0.0.1 only, close-on-exec, above stderr; or empty
  int port = 0;     // which the system chose
};

Listener listen_on_loopback();    // throws Error
int choose_free_loopback_port();  // free now; somebody else may take it. Throws Error

}  // namespace lockstep
