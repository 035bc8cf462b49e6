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

// What is known of a parameter's buffer, on the host, when its next gradient is enqueued. One per
// trained parameter, made by GradientBuffers (engine/gradient_buffers.h).
struct BufferState {
  // zeros: no gradient of this step yet; zero-filled. In a graph that begins with an update the
  // fill may still be under way on a side stream.
  // anything: no gradient of this step yet; stale. The first one overwrites the buffer, or the
  // buffer is zero-filled before it.
  // gradients: the sum of this step's gradients so far.
  // low: this step's only gradient is in `low`; the buffer is stale.
  enum class Holds { zeros, anything, gradients, low } holds = Holds::zeros;
  // In some step the first gradient could not overwrite the buffer, or none came. Stays set.
  bool was_added_to = false;
  // The parameter's part of the reduce buffer, where ranks reduce in a low precision; else
  // undefined. A gradient that is the only one of a step may be written there instead of the
  // buffer.
  at::Tensor low;
  int gradients = 0;       // how many came in this step
  bool was_alone = false;  // whether exactly one came in the step before
  // Whether the next gradient, of this type, is to be written to `low`.
  bool takes_low(at::ScalarType type) const {
    return holds == Holds::anything && was_alone && low.defined() && low.scalar_type() == type;
  }
  SideWork* side = nullptr;  // the side stream on which gradients may be made; null: none
  bool made_beside = false;  // the last gradient was made there and may not be done yet
  // Makes the current stream wait for a deferred update, which still reads the gradient of the step
  // before and zero-fills the buffer behind it. Empty: there is none. Called once (wait_for_user).
  std::function<void()> wait_for_user;

  // Whether any gradient so far came as rows (add_rows_of_this_pass), or otherwise. Both stay set.
  bool has_rows = false, has_others = false;
  std::int64_t row_count = 0;              // rows given in this step
  std::vector<TableRows>* kept = nullptr;  // takes rows in place of the buffer, unless null
  TouchedPieces touched;                   // marked where rows are added

  OwedUpdate* owed = nullptr;  // a deferred update of the weights; null: they are up to date
};

// parameter: a leaf that keeps its handle. buffer: f32, of its shape; one that is not
// contiguous is found only by operations that handle any strides. An operation adds its gradient
// into it during backward and returns none to autograd, which saves a tensor, a cast and an
// addition per parameter. state: null for a buffer that is always zero-filled. Thread-safe.
void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& buffer,
                         std::shared_ptr<BufferState> state = nullptr);
void forget_gradient_buffer(const at::Tensor& parameter);
// To be added to, outside of a backward pass too (linear_cross_entropy makes its weight's gradient
// in forward). Undefined if there is none.
at::Tensor gradient_buffer(const at::Tensor& parameter);

// For an operation in backward, about a parameter whose gradient this pass needs: its buffer, to be
// added to. Undefined where autograd shall have the gradient, because there is no buffer or because
// the pass returns the gradient to its caller (torch::autograd::grad) and adds nothing up.
// side: the side stream on which the operation makes it, as side_work_for found. Each call counts
// as one gradient.
at::Tensor buffer_of_this_pass(const at::Tensor& parameter, SideWork* side = nullptr);

// The same for an operation that can also overwrite all of it. is_first: what it holds is stale and
// must be overwritten. may_be_low: the operation can write the parameter's own type too; then the
// buffer may be of that type in place of f32, with is_first.
struct FirstBuffer {
  at::Tensor buffer;
  bool is_first = false;
};
FirstBuffer first_buffer_of_this_pass(const at::Tensor& parameter, SideWork* side = nullptr,
                                      bool may_be_low = false);
// Whether that buffer would be of the parameter's type. Counts nothing and changes nothing.
bool would_be_low_in_this_pass(const at::Tensor& parameter);
// As first_buffer_of_this_pass, for an operation that handles any strides.
FirstBuffer first_strided_buffer_of_this_pass(const at::Tensor& parameter, SideWork* side,
                                              bool may_be_low = false);
// To be called before work that uses the buffer is enqueued: see BufferState::wait_for_user.
void wait_for_user(BufferState& state);
// To be called before another gradient is added: copies one that is in `low` to the buffer. Work
// that writes `low` must be enqueued.
void bring_from_low(BufferState& state, const at::Tensor& buffer);
// For an operation in forward that reads rows of the parameter: a deferred update of it. Null: the
// rows are up to date.
OwedUpdate* owed_update_of(const at::Tensor& parameter);
// For an operation in backward that used few rows of the parameter [V, D]: adds the gradient's rows
// to the buffer, or keeps them, or returns false where autograd shall have the gradient. On GPUs
// rows are added up in no fixed order, unless ATen was told to be deterministic.
bool add_rows_of_this_pass(const at::Tensor& parameter, const TableRows& rows);
// Whether buffer_of_this_pass would give a buffer. Counts nothing and changes nothing.
bool has_buffer_in_this_pass(const at::Tensor& parameter);
// The side stream on which an operation that reads these tensors may make the gradients of all
// these parameters (run_beside). Null where one that is defined has no buffer, where `read` is
// large (side_work_bytes), or where there is no side stream. strided: the operation handles buffers
// of any strides.
SideWork* side_work_for(const std::vector<at::Tensor>& parameters,
                        const std::vector<at::Tensor>& read, bool strided = false);

// While it lives, a backward pass that begins inside the present one may fill the buffers of
// `parameters`, although it returns their gradients to its caller. For its thread.
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
