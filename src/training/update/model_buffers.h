// A model's buffers (statistics of batch norm and the like) as part of the step: a step that
// changes no weights changes no buffers either.
#pragma once

#include "training/distributed/process_group.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep {

// All ranks: a buffer of rank 0; with `mean`, if it is floating-point, the mean over the ranks.
void share_buffer(const at::Tensor& values, ProcessGroup& group, bool mean);

// The first module that is a batch norm of torch's own, as far as buffers tell: it counts batches,
// which lockstep::BatchNorm does not; "": none.
std::string torch_batch_norm(const std::vector<NamedTensor>& buffers);

// Takes a freshly built model's buffers and makes them views into one flat tensor per dtype on the
// device; the model keeps the handles and changes them in place. Nothing here synchronises the
// device unless it says so. One thread, on the training stream.
class ModelBuffers {
 public:
  ModelBuffers(std::vector<NamedTensor> buffers, at::Device device);

  const std::vector<NamedTensor>& tensors() const { return tensors_; }

  void remember();  // allocates nothing
  // As they were remembered, where skip is above 0. skip: f32 [1] on the device. May be called
  // again after it ran out of memory.
  void undo(const at::Tensor& skip);
  void undo();  // whatever the device says

  void share(ProcessGroup& group, bool mean);  // each as share_buffer

  // Copies of the floating-point buffers, for an average of them; in an order of their own, the
  // same on every rank.
  std::vector<at::Tensor> copies() const;
  // Such copies by the names of the buffers, as views.
  std::vector<NamedTensor> named(const std::vector<at::Tensor>& copies) const;
  // The copies move towards the buffers; numbers that a fresh model has infinite are copied. share:
  // f32 0-dim, of the way.
  void follow(const std::vector<at::Tensor>& copies, const at::Tensor& share) const;
  // The model computes with the copies until `show_own`. Between steps only.
  void show(const std::vector<at::Tensor>& copies);
  void show_own();

  // The first that holds a number that is not finite and was finite in a fresh model; empty: none.
  // Waits for the device.
  std::string not_finite() const;
  // Throws Error if the model has put another tensor in the place of one of `tensors`, as by an
  // assignment: it would be neither saved nor shared. now: of Model::buffers.
  void require_in_place(const std::vector<NamedTensor>& now) const;

 private:
  struct Flat {
    at::Tensor values, remembered;  // [elements], of one dtype
    // bool [elements], true where a fresh model has an infinite number, as in the mask of
    // attention. Undefined: nowhere.
    at::Tensor infinite;
  };
  std::vector<const Flat*> floating() const;

  std::vector<NamedTensor> tensors_;
  std::vector<Flat> flats_;
};

}  // namespace lockstep
