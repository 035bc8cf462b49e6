// batch.global, batch.micro and batch.accumulation where several places set them: a preset, files,
// arguments.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>
#include <string>

namespace lockstep {

// Sizes that the user sets take precedence over those of a preset. Sizes of a preset that would
// contradict them are left open (0), and follow from them. A preset's micro-batch is also left open
// if it would change the preset's batch on `devices` devices, which divide that batch. devices: 0 =
// unknown. To be called once all options are set.
void prefer_given_batch(TrainOptions& options, std::int64_t devices = 0);

// The source of a size that no argument sets: "batch.accumulation=4 from my.toml, line 3". "" if it
// is not set, or set by an argument.
std::string size_source(const TrainOptions& options, const std::string& key);
// The same for all three sizes, with commas between.
std::string batch_sources(const TrainOptions& options);

}  // namespace lockstep
