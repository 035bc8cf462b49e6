// Computes the loss of a micro-batch, which has a term for each pass of the task.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "recipes/dimabsa/model/net.h"
#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// Returns a sum for each of `passes`, 0-dim f32. fields: the tensors of model/batch.h. Does not
// synchronise the stream.
std::vector<at::Tensor> pass_losses(const Net& net, const std::vector<at::Tensor>& fields,
                                    const std::vector<Pass>& passes, const StepContext& context);

// Returns the divisor of each sum: the number of rows of the pass without padding, which is the
// number of sentences.
std::vector<double> pass_weights(const std::vector<at::Tensor>& fields,
                                 const std::vector<Pass>& passes);

}  // namespace lockstep::dimabsa
