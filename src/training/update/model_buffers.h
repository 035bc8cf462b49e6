// Keeps a model's buffers, such as the statistics of batch norm. A step that changes no weights
// leaves the buffers unchanged too.
#pragma once

#include "training/distributed/process_group.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// Makes a buffer equal on all ranks, in place. All ranks call it. Every rank gets rank 0's values.
// If `mean` is true, a floating-point buffer gets the mean over the ranks instead.
void share_buffer(const at::Tensor& values, ProcessGroup& group, bool mean);

// Returns the name of the first module that seems to be a batch norm of torch, or "" if there is no
// such module. A module is recognised by its buffer num_batches_tracked, which lockstep::BatchNorm
// lacks. If the module is the model itself, returns "the model".
std::string torch_batch_norm(const std::vector<NamedTensor>& buffers);

// Takes the buffers of a freshly built model. The buffers become views into one flat tensor per
// dtype on the device. The model keeps its tensor handles and changes the buffers in place. No
// function synchronises the device unless its comment says so. All calls must come from one thread,
// with the training stream as the current stream.
class ModelBuffers {
 public:
  ModelBuffers(std::vector<NamedTensor> buffers, at::Device device);

  const std::vector<NamedTensor>& tensors() const { return tensors_; }

  void remember();  // keeps a copy of the present values; allocates nothing
  // Restores the values of the last `remember` if `skip` is above 0. skip: f32 [1] on the device.
  // It may be called again after it ran out of memory.
  void undo(const at::Tensor& skip);
  void undo();  // restores the values of the last `remember`

  void share(ProcessGroup& group, bool mean);  // calls share_buffer for all buffers

  // Returns copies of the floating-point buffers, from which an average can start. There is one
  // flat tensor per dtype, in the same order on every rank.
  std::vector<at::Tensor> copies() const;
  // Returns views of these copies, with the names and shapes of the buffers.
  std::vector<NamedTensor> named(const std::vector<at::Tensor>& copies) const;
  // Moves the copies towards the buffers by the fraction `share`, f32 0-dim. Elements that are
  // infinite in a freshly built model are copied from the buffers instead.
  void follow(const std::vector<at::Tensor>& copies, const at::Tensor& share) const;
  // Makes the model compute with the copies until show_own is called. Call both only between steps.
  void show(const std::vector<at::Tensor>& copies);
  void show_own();

  // Returns the name of the first buffer that has an infinite value or NaN. Elements that are
  // infinite in a freshly built model do not count. Returns "" if no buffer has such a value. Waits
  // for the device.
  std::string not_finite() const;
  // Throws Error if the model has replaced one of `tensors` by another tensor, for example by an
  // assignment. The new tensor would be neither saved nor shared. now: the present result of
  // Model::buffers.
  void require_in_place(const std::vector<NamedTensor>& now) const;

 private:
  struct Flat {
    at::Tensor values, remembered;  // [elements], of one dtype
    // bool [elements], true where a freshly built model has an infinite value, for example in an
    // attention mask. Undefined if no value is infinite.
    at::Tensor infinite;
  };
  std::vector<const Flat*> floating() const;

  std::vector<NamedTensor> tensors_;
  std::vector<Flat> flats_;
};

}  // namespace lockstep
