// Holds the parameters that are not trained. Checkpoints save them, but they have no gradient and
// the optimizer does not update them.
#pragma once

#include "training/parameters/model_parameters.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Moves frozen parameters to the device. Floating-point parameters are cast to the compute dtype;
// all others keep their dtype. The model's tensor handles stay valid. If a parameter was cast, its
// original values are also kept on the CPU, so that checkpoints can save them exactly. All calls
// must come from one thread.
class FrozenParameters {
 public:
  FrozenParameters(std::vector<UniqueParameter> parameters, at::Device device,
                   at::ScalarType compute_dtype);

  std::size_t size() const { return all_.size(); }
  const std::string& name(std::size_t i) const { return all_[i].name; }
  const at::Tensor& tensor(std::size_t i) const { return all_[i].tensor; }  // on the device
  // Returns the values for a checkpoint, in the dtype in which the parameter was built. The result
  // may be on the device or on the CPU. If the model has changed the parameter in place, returns
  // the changed values.
  at::Tensor values(std::size_t i) const;
  void set(std::size_t i, const at::Tensor& values);
  // Frees the original values on the CPU. Call it on ranks that save no checkpoint.
  void forget_built();

 private:
  struct One {
    std::string name;
    // `built` holds the original values on the CPU. It is undefined if the parameter was not cast.
    at::Tensor tensor, built;
    at::ScalarType dtype;      // the dtype in which the parameter was built
    std::int64_t version = 0;  // version counter of `tensor` when it was set here
  };
  std::vector<One> all_;
};

}  // namespace lockstep
