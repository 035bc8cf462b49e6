// Parameters that are not trained: part of the model's state, but neither of ParameterStorage nor
// of what the optimizer sees.
#pragma once

#include "training/parameters/model_parameters.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Moves them to the device: floating ones in the compute dtype, others in their own. Handles stay.
// A parameter built in another dtype than the device holds is kept on the CPU as well, because a
// checkpoint holds every parameter as it was built. One thread.
class FrozenParameters {
 public:
  FrozenParameters(std::vector<UniqueParameter> parameters, at::Device device,
                   at::ScalarType compute_dtype);

  std::size_t size() const { return all_.size(); }
  const std::string& name(std::size_t i) const { return all_[i].name; }
  const at::Tensor& tensor(std::size_t i) const { return all_[i].tensor; }  // on the device
  // The values that a checkpoint holds, in the dtype that the parameter was built in, on the device
  // or the CPU. If the model changed the parameter itself, the present values.
  at::Tensor values(std::size_t i) const;
  void set(std::size_t i, const at::Tensor& values);
  // On ranks that save nothing: frees the copies on the CPU.
  void forget_built();

 private:
  struct One {
    std::string name;
    at::Tensor tensor, built;  // built: the copy on the CPU; undefined where there is none
    at::ScalarType dtype;      // that it was built in
    std::int64_t version = 0;  // of tensor, as long as the model changes nothing
  };
  std::vector<One> all_;
};

}  // namespace lockstep
