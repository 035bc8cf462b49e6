#include "training/trainer/kept_buffers.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {

void KeptBuffers::start() {
  if (!setup_.options.exact) return;
  for (const NamedTensor& buffer : placed_.buffers->tensors())
    first_.push_back(buffer.tensor.clone());
}

void KeptBuffers::check() const {
  placed_.buffers->require_in_place(placed_.model->buffers());
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const NamedTensor& buffer = placed_.buffers->tensors()[i];
    if (!first_[i].equal(buffer.tensor))
      throw Error(cat("exact = true, but training changes the buffer ", buffer.name,
                      ", which follows the samples of one rank"),
                  cat("use a layer that keeps no statistics over samples, ",
                      setup_.options.norm.statistics == NormStatistics::frozen
                          ? ""
                          : "set norm.statistics=frozen if it is a lockstep::BatchNorm, ",
                      "or set exact=false"));
  }
}

void KeptBuffers::share() {
  const bool mean = setup_.options.norm.keep == NormKeep::mean;
  placed_.buffers->share(setup_.group, mean);
  if (optimizer_.average() != nullptr) optimizer_.average()->share_buffers(setup_.group, mean);
}

}  // namespace lockstep
