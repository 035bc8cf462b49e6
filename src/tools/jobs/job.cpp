#include "tools/jobs/job.h"

#include <algorithm>
#include <cmath>

namespace lockstep {

int Job::whole_cores() const { return std::max(1, static_cast<int>(std::lround(cpus))); }

}  // namespace lockstep
