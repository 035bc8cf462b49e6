// Settings that say what the libraries below LibTorch may do for speed. They apply to the whole
// process.
#pragma once

#include "planning/options/train_options.h"

namespace lockstep {

// Call it before the first operation, because cuBLAS reads an environment variable at that time.
//  deterministic, exact: operators that add in no fixed order are errors
//  matmul.tf32: fp32 products and convolutions may round their inputs to TF32
//  else, with graph = auto: cuDNN tries its algorithms out for each new shape of a convolution
void set_library_modes(const TrainOptions& options);

// Stops these trials of cuDNN. They never pay off if the shapes of the data vary.
void stop_trying_out_convolutions();

// For outputs that must not depend on the rank that makes them. The same operation on the same data
// uses the same algorithm in every process. It adds in a fixed order if it can.
void take_the_same_algorithms_everywhere();

}  // namespace lockstep
