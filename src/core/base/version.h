// The version of this build of Lockstep.
#pragma once

namespace lockstep {

const char* version();  // "0.1.0"

}  // namespace lockstep
