// Decides which values of batch.global, batch.micro and batch.accumulation apply if a preset, files
// and arguments set them.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>
#include <string>

namespace lockstep {

// Sizes that the user sets override those of a preset. Sizes of the preset that would contradict
// them become 0, so that the plan computes them. The preset's micro-batch also becomes 0 if it does
// not divide the share of a device. This last rule applies only if the preset also sets the global
// batch, and the number of devices divides that batch. devices: 0 = unknown. Must be called after
// all options are set.
void prefer_given_batch(TrainOptions& options, std::int64_t devices = 0);

// The source of a size that a file or a preset sets: "batch.accumulation=4 from my.toml, line 3".
// Empty for a size that is 0 or has another source.
std::string size_source(const TrainOptions& options, const std::string& key);
// The results of size_source for all three sizes, separated by commas.
std::string batch_sources(const TrainOptions& options);

}  // namespace lockstep
