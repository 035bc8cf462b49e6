// batch.global, batch.micro and batch.accumulation where several places set them: a preset, files,
// arguments.
#pragma once

#include "planning/options/train_options.h"

#include <cstdint>
#include <string>

namespace lockstep {

// The sizes that the user sets come before those of a preset. Sizes of a preset that would
// contradict them are left open (0), and follow from them. A preset's micro-batch is left open too
// where it would change the preset's batch on so many devices, which divide it; 0: unknown. To be
// called once all are set.
void prefer_given_batch(TrainOptions& options, std::int64_t devices = 0);

// Where one of them comes from that no argument sets: "batch.accumulation=4 from my.toml, line 3".
// "" where it is not set, or by an argument.
std::string size_source(const TrainOptions& options, const std::string& key);
// The same of all three, with commas between.
std::string batch_sources(const TrainOptions& options);

}  // namespace lockstep
