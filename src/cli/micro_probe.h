// batch.micro = auto: trying micro-batches out on the devices before a run starts.
#pragma once

#include "plan/run_setup.h"

#include <vector>

namespace lockstep::cli {

// What an earlier try on the same devices found, into memory.tried_micro and the rest of the
// estimate; nothing where batch.micro is not auto or nothing is known.
void use_tried_micro(MemoryEstimate& memory, const RunSetup& setup,
                     const std::vector<Device>& devices);

// The same, and tries out what is not known yet: a few steps on all devices for each candidate,
// with all that training takes. Throws Error if not even one sample fits.
void try_micro_out(MemoryEstimate& memory, const RunSetup& setup,
                   const std::vector<Device>& devices);

}  // namespace lockstep::cli
