// The batch of a resumed run. Each training or resumption of a run is a start. On the same number
// and kinds of devices as in its last start, the run keeps all sizes. On other devices, the sizes
// are chosen again. There, the run keeps only a batch.micro that the user set, if it fits the share
// of a rank.
#pragma once

#include "planning/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// The batch that a run had in its last start.
struct LastBatch {
  const Plan& plan;
  // the micro-batch when that start ended; smaller than planned if memory ran out
  std::int64_t micro = 0;
  // the micro-batch to which the run shrank on the kind of devices that it resumes on; 0 = memory
  // sufficed
  std::int64_t shrunk_to = 0;
  std::int64_t step = 0;        // the step of the checkpoint from which the run resumes
  std::int64_t micro_then = 0;  // the micro-batch that was used at that step
  // The step since which micro_then was used. Changes in batch.micro_changes that were due after
  // that step never took effect.
  std::int64_t then_since = 0;
};

struct KeptBatch {
  BatchSizes sizes;        // the batch options for the new plan
  std::int64_t micro = 0;  // the micro-batch that is kept; 0 = a new one is chosen
};

// Decides which sizes a resumed run keeps. With batch.micro_changes, the run begins with the
// micro-batch that was used at its checkpoint. If memory ran out before, later changes are limited
// to the micro-batch to which the run shrank. Changes that the user typed again are not limited.
//
// recorded: the sizes in the run's record. options: the options of the resumed run, whose global
// batch must be divisible over `devices`. Sizes in `options` were typed again by the user. They are
// kept even if memory ran out with them before.
KeptBatch batch_to_keep(const BatchSizes& recorded, const LastBatch& last,
                        const TrainOptions& options, const Facts& facts,
                        const std::vector<Device>& devices);

// The micro-batch that these batch.micro_changes set after `step` steps. 0 if the first change
// comes later.
std::int64_t micro_due(const std::string& micro_changes, std::int64_t step);

// Notes on recorded sizes that the plan `now` does not keep, with reasons. before: the plan of the
// last start. Returns no notes if number and kinds of devices are as in the last start.
std::vector<std::string> notes_on_kept_batch(const BatchSizes& recorded, const Plan& before,
                                             const Plan& now);

}  // namespace lockstep
