// The batch of a run that continues. On devices like those of its last start, it keeps all sizes.
// On other devices the sizes are chosen again, except a batch.micro that somebody set and that fits
// a rank's share.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// The batch of a run's last start.
struct LastBatch {
  const Plan& plan;
  std::int64_t micro = 0;       // the micro-batch at its end; less than planned if memory ran out
  std::int64_t shrunk_to = 0;   // on devices of the kind requested now; 0: memory sufficed
  std::int64_t step = 0;        // step of the checkpoint that the run resumes from
  std::int64_t micro_then = 0;  // the micro-batch in force at that step
  // Step since which micro_then was in force; later changes that were due never took effect.
  std::int64_t then_since = 0;
};

struct KeptBatch {
  BatchSizes sizes;        // the options to plan with
  std::int64_t micro = 0;  // the micro-batch that is kept; 0: it is chosen again
};

// With batch.micro_changes, a run begins with the micro-batch that was in force at its checkpoint.
// Later changes do not exceed what fitted into memory. Changes that the user types again stay as
// they are.
//
// recorded: the sizes in the record of the run. options: the options of the continued run. They
// include sizes that the user types again, which are kept although memory ran out with them. The
// global batch of `options` can be shared out over `devices`.
KeptBatch batch_to_keep(const BatchSizes& recorded, const LastBatch& last,
                        const TrainOptions& options, const Facts& facts,
                        const std::vector<Device>& devices);

// The micro-batch after `step` steps by these batch.micro_changes; 0: the first change comes later.
std::int64_t micro_due(const std::string& micro_changes, std::int64_t step);

// Notes of the plan `now` on recorded sizes that it does not keep, and why. before: the plan of the
// last start. No notes if the devices are like those of the last start.
std::vector<std::string> notes_on_kept_batch(const BatchSizes& recorded, const Plan& before,
                                             const Plan& now);

}  // namespace lockstep
