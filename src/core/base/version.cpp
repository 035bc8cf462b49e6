// The only file that is compiled again when the version changes.
#include "core/base/version.h"

namespace lockstep {

const char* version() { return LOCKSTEP_VERSION; }

}  // namespace lockstep
