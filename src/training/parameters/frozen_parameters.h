// Parameters that are not trained. They belong to the model's state, but ParameterStorage and the
// optimizer do not contain them.
#pragma once

#include "training/parameters/model_parameters.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Moves frozen parameters to the device. Floating-point parameters get the compute dtype, others
// keep their own. Handles stay valid. If the dtype on the device is not the one that a parameter
// was built in, the original values are also kept on the CPU. A checkpoint holds every parameter as
// it was built. One thread.
class FrozenParameters {
 public:
  FrozenParameters(std::vector<UniqueParameter> parameters, at::Device device,
                   at::ScalarType compute_dtype);

  std::size_t size() const { return all_.size(); }
  const std::string& name(std::size_t i) const { return all_[i].name; }
  const at::Tensor& tensor(std::size_t i) const { return all_[i].tensor; }  // on the device
  // Returns the values for a checkpoint, in the dtype that the parameter was built in, on the
  // device or the CPU. If the model itself changed the parameter, these are its present values.
  at::Tensor values(std::size_t i) const;
  void set(std::size_t i, const at::Tensor& values);
  // On ranks that save nothing: frees the copies on the CPU.
  void forget_built();

 private:
  struct One {
    std::string name;
    at::Tensor tensor, built;  // built: the copy on the CPU; undefined where there is none
    at::ScalarType dtype;      // the dtype that it was built in
    std::int64_t version = 0;  // version of `tensor` while the model has not changed it
  };
  std::vector<One> all_;
};

}  // namespace lockstep
