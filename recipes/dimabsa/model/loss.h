// The loss of a micro-batch: a term for each pass of the task.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "recipes/dimabsa/model/net.h"
#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {

// fields: those of model/batch.h. Returns a sum, 0-dim f32, for each of `passes`. Does not
// synchronise the device.
std::vector<at::Tensor> pass_losses(const Net& net, const std::vector<at::Tensor>& fields,
                                    const std::vector<Pass>& passes, const StepContext& context);

// For each pass, its number of rows without padding, which is the number of sentences.
std::vector<double> pass_weights(const std::vector<at::Tensor>& fields,
                                 const std::vector<Pass>& passes);

}  // namespace lockstep::dimabsa
