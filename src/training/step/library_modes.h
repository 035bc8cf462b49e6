// Sets what cuBLAS and cuDNN may do for speed. The settings apply to the whole process.
#pragma once

#include "planning/options/train_options.h"

namespace lockstep {

// Sets the modes that these options ask for. Call it before the first operation, because cuBLAS
// reads an environment variable at that time.
//   - deterministic or exact: an operator that adds in no fixed order throws an exception
//   - matmul.tf32: fp32 products and convolutions may round their inputs to TF32
//   - graph = auto, without deterministic and exact: for each new shape of a convolution, cuDNN
//     tries which algorithm is the fastest
void set_library_modes(const TrainOptions& options);

// Stops cuDNN's trials of algorithms. The trials cost more time than they save if the shapes of the
// data vary.
void stop_trying_out_convolutions();

// Call it if outputs must not depend on the rank that makes them. Afterwards the same operation on
// the same data uses the same algorithm in every process. Operations that can add in a fixed order
// use that order.
void take_the_same_algorithms_everywhere();

}  // namespace lockstep
