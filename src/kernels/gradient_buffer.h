// Where a parameter's gradient is added up, for operations that write it there themselves.
#pragma once

#include "kernels/owed_update.h"
#include "kernels/side_work.h"
#include "kernels/table_rows.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace lockstep {

// What the buffer of a parameter holds. Where it may be anything, whoever adds the first gradient
// of a step zeroes it before, or writes over it. low: the gradient is in BufferState::low, and the
// buffer may hold anything.
struct BufferState {
  enum class Holds { zeros, anything, gradients, low } holds = Holds::zeros;
  bool was_added_to = false;  // in some step the first gradient needed zeros to be added to
  // Where the ranks' sum is made in a low precision: of the parameter's shape. A gradient that is
  // the only one of a step may be written there instead of the buffer. Undefined: nowhere.
  at::Tensor low;
  int gradients = 0;       // that came in this step
  bool was_alone = false;  // the gradient, in the step before
  // Whether a gradient of this type is to be written there.
  bool takes_low(at::ScalarType type) const {
    return holds == Holds::anything && was_alone && low.defined() && low.scalar_type() == type;
  }
  SideWork* side = nullptr;  // gradients may be made there; null: nowhere
  bool made_beside = false;  // it may not be done yet
  // Makes the current stream wait for who still reads what the step before left in the buffer, and
  // zeroes it; empty: nobody.
  std::function<void()> wait_for_user;

  // What the gradient consisted of so far: rows (add_rows_of_this_pass), anything else.
  bool has_rows = false, has_others = false;
  std::int64_t row_count = 0;              // that were given in this step
  std::vector<TableRows>* kept = nullptr;  // where rows go instead of the buffer; null: nowhere
  TouchedPieces touched;                   // what rows are added to

  OwedUpdate* owed = nullptr;  // of the weights, which are a table; null: they are up to date
};

// parameter: a leaf that keeps its handle (the arena's). buffer: f32, of its shape; where it is not
// contiguous, only operations that know strides find it. An operation adds its gradient into it
// during backward and returns none to autograd, which saves a tensor, a cast and an addition per
// parameter. state: null where the buffer never holds just anything. Thread-safe.
void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& buffer,
                         std::shared_ptr<BufferState> state = nullptr);
void forget_gradient_buffer(const at::Tensor& parameter);
// Undefined if there is none. To be added to.
at::Tensor gradient_buffer(const at::Tensor& parameter);

// For an operation in backward, about a parameter whose gradient this pass needs: its buffer, to be
// added to, or undefined where autograd shall have the gradient, because there is no buffer or
// because the pass hands the gradient to its caller (torch::autograd::grad) in place of adding it
// up.
// side: where the operation makes it, as side_work_for found.
at::Tensor buffer_of_this_pass(const at::Tensor& parameter, SideWork* side = nullptr);

// The same for an operation that can write all of it as well. is_first: it holds anything, and must
// be written over. may_be_low: it may be of the parameter's type in place of f32, and then
// is_first.
struct FirstBuffer {
  at::Tensor buffer;
  bool is_first = false;
};
FirstBuffer first_buffer_of_this_pass(const at::Tensor& parameter, SideWork* side = nullptr,
                                      bool may_be_low = false);
// Whether it would be; changes nothing.
bool would_be_low_in_this_pass(const at::Tensor& parameter);
// The same for an operation that may write or add to a tensor of any strides.
FirstBuffer first_strided_buffer_of_this_pass(const at::Tensor& parameter, SideWork* side,
                                              bool may_be_low = false);
// What the current stream is given next may use the buffer.
void wait_for_user(BufferState& state);
// Where a gradient was written to `low`, but is not the only one: brings it, which must be there,
// to the buffer.
void bring_from_low(BufferState& state, const at::Tensor& buffer);
// For an operation in forward that reads rows of the parameter. Null: they are up to date.
OwedUpdate* owed_update_of(const at::Tensor& parameter);
// For an operation in backward that used few rows of the parameter [V, D]: adds the gradient's rows
// to the buffer, or keeps them, or returns false where autograd shall have the gradient. On GPUs
// rows are added up in no fixed order, unless ATen was told to be deterministic.
bool add_rows_of_this_pass(const at::Tensor& parameter, const TableRows& rows);
// Whether there is one; changes nothing.
bool has_buffer_in_this_pass(const at::Tensor& parameter);
// Where an operation that reads these tensors may make the gradients of these parameters, all of
// them, beside what comes next (run_beside): each has a buffer, or is undefined. Null: nowhere.
// strided: the buffers may be of any strides.
SideWork* side_work_for(const std::vector<at::Tensor>& parameters,
                        const std::vector<at::Tensor>& read, bool strided = false);

// While it lives, a backward pass begun inside the present one may fill the buffers of
// `parameters`, although it hands their gradients to its caller. For its thread.
class InnerPass {
 public:
  explicit InnerPass(const std::vector<at::Tensor>& parameters);
  ~InnerPass();
  InnerPass(const InnerPass&) = delete;
  InnerPass& operator=(const InnerPass&) = delete;
  bool fills(const at::Tensor& parameter) const;

 private:
  std::set<const at::TensorImpl*> parameters_;
  int outer_;  // the pass that it lies in
  const InnerPass* around_;
};

}  // namespace lockstep
