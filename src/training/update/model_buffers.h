// A model's buffers (such as the statistics of batch norm) as part of the step. A step that changes
// no weights changes no buffers either.
#pragma once

#include "training/distributed/process_group.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// All ranks call it. Sets a buffer to that of rank 0. With `mean`, a floating-point buffer gets the
// mean over the ranks.
void share_buffer(const at::Tensor& values, ProcessGroup& group, bool mean);

// Returns the name of the first module that seems to be a batch norm of torch. It is recognised by
// its count of batches, which lockstep::BatchNorm does not have. "": none.
std::string torch_batch_norm(const std::vector<NamedTensor>& buffers);

// Takes a freshly built model's buffers and makes them views into one flat tensor per dtype on the
// device. The model keeps the handles and changes the buffers in place. No function here
// synchronises the device unless its comment says so. One thread, on the training stream.
class ModelBuffers {
 public:
  ModelBuffers(std::vector<NamedTensor> buffers, at::Device device);

  const std::vector<NamedTensor>& tensors() const { return tensors_; }

  void remember();  // allocates nothing
  // Restores the remembered values if skip is above 0. skip: f32 [1] on the device. May be called
  // again after it ran out of memory.
  void undo(const at::Tensor& skip);
  void undo();  // restores unconditionally

  void share(ProcessGroup& group, bool mean);  // calls share_buffer for each

  // Returns copies of the floating-point buffers, for an average of them. Their order is the same
  // on every rank, but not that of `tensors`.
  std::vector<at::Tensor> copies() const;
  // Returns views of such copies, with the names of the buffers.
  std::vector<NamedTensor> named(const std::vector<at::Tensor>& copies) const;
  // Moves the copies towards the buffers by the fraction `share`, f32 0-dim. Elements that are
  // infinite in a fresh model are copied.
  void follow(const std::vector<at::Tensor>& copies, const at::Tensor& share) const;
  // Makes the model compute with the copies until `show_own`. Call it between steps only.
  void show(const std::vector<at::Tensor>& copies);
  void show_own();

  // Returns the name of the first buffer with a number that is not finite but was finite in a fresh
  // model. Empty: none. Waits for the device.
  std::string not_finite() const;
  // Throws Error if the model has replaced one of `tensors` by another tensor, for example by an
  // assignment. The new tensor would be neither saved nor shared. now: the result of
  // Model::buffers.
  void require_in_place(const std::vector<NamedTensor>& now) const;

 private:
  struct Flat {
    at::Tensor values, remembered;  // [elements], of one dtype
    // bool [elements], true where a fresh model has an infinite number, for example in an attention
    // mask. Undefined: nowhere.
    at::Tensor infinite;
  };
  std::vector<const Flat*> floating() const;

  std::vector<NamedTensor> tensors_;
  std::vector<Flat> flats_;
};

}  // namespace lockstep
