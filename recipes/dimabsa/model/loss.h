// Computes the loss of a micro-batch. It has a term for each kind of question (Pass) of the task.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "recipes/dimabsa/model/net.h"
#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// Returns the sum of the loss for each of `passes`, 0-dim f32. fields: the tensors of
// model/batch.h. Does not synchronise the stream.
std::vector<at::Tensor> pass_losses(const Net& net, const std::vector<at::Tensor>& fields,
                                    const std::vector<Pass>& passes, const StepContext& context);

// Returns the divisor of each sum. It is the number of rows of the pass, without rows of padding.
// fields: the tensors of model/batch.h, on the CPU.
std::vector<double> pass_weights(const std::vector<at::Tensor>& fields,
                                 const std::vector<Pass>& passes);

}  // namespace lockstep::dimabsa
