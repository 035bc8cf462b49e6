// The version of Lockstep that this was built as.
#pragma once

namespace lockstep {

const char* version();  // "0.1.0"

}  // namespace lockstep
