// Settings for what the libraries below LibTorch may do to be fast. They hold for the whole
// process.
#pragma once

#include "planning/options/train_options.h"

namespace lockstep {

// Before the first operation, because cuBLAS reads an environment variable then.
//  deterministic, exact: operators that add in no fixed order are errors
//  matmul.tf32: fp32 products and convolutions may round their inputs to TF32
//  else, with graph = auto: cuDNN tries its algorithms out for each new shape of a convolution
void set_library_modes(const TrainOptions& options);

// Where the shapes of the data vary, trying out never pays.
void stop_trying_out_convolutions();

// For outputs that must not depend on which rank makes them: the same operation on the same data
// takes the same way in every process, and adds in a fixed order where it can.
void take_the_same_algorithms_everywhere();

}  // namespace lockstep
