// batch.global, batch.micro and batch.accumulation where several places set them: a preset, files,
// arguments.
#pragma once

#include "planning/options/train_options.h"

#include <string>

namespace lockstep {

// What the user sets of the three comes before what a preset sets of the others: those that would
// contradict it are left open (0), and follow from it. To be called once all are set.
void prefer_given_batch(TrainOptions& options);

// Where one of them comes from that no argument sets: "batch.accumulation=4 from my.toml, line 3".
// "" where it is not set, or by an argument.
std::string size_source(const TrainOptions& options, const std::string& key);
// The same of all three, with commas between.
std::string batch_sources(const TrainOptions& options);

}  // namespace lockstep
