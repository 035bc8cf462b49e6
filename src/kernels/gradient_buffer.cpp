// The buffers of all parameters, found by the identity of a parameter's tensor.
#include "kernels/gradient_buffer.h"

#include "base/check.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/variable.h>

#include <mutex>
#include <unordered_map>
#include <utility>

namespace lockstep {
namespace {

struct Entry {
  at::Tensor buffer;
  std::shared_ptr<BufferState> state;
};
struct Table {
  std::mutex mutex;
  std::unordered_map<const at::TensorImpl*, Entry> buffers;
};

// Never destroyed: models may outlive static objects.
Table& table() {
  static Table* const all = new Table;
  return *all;
}

thread_local const InnerPass* inner_pass = nullptr;

// Whether the running backward pass returns the parameter's gradient to its caller.
bool is_captured(const at::Tensor& parameter) {
  const auto* const wanted = torch::autograd::get_current_graph_task_exec_info();
  if (wanted == nullptr || wanted->empty()) return false;  // every gradient is added up
  const auto end = torch::autograd::impl::try_get_grad_accumulator(parameter);
  const auto found = wanted->find(end.get());
  return found != wanted->end() && found->second.captures_ != nullptr;
}

using Holds = BufferState::Holds;

// strided: also of a buffer that is not contiguous.
Entry entry_of(const at::Tensor& parameter, bool strided = false) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.buffers.find(parameter.unsafeGetTensorImpl());
  if (found == all.buffers.end()) return {};
  return strided || found->second.buffer.is_contiguous() ? found->second : Entry();
}

// Empty where the pass returns the gradient to its caller.
Entry entry_of_this_pass(const at::Tensor& parameter, bool strided = false) {
  Entry entry = entry_of(parameter, strided);
  if (!entry.buffer.defined() || !is_captured(parameter)) return entry;
  const bool fills = inner_pass != nullptr && inner_pass->fills(parameter);
  return fills ? entry : Entry();
}

// The stream that makes the next gradient waits for the stream that made the one before.
void come_behind(BufferState& state, const SideWork* side) {
  wait_for_user(state);
  if (side == nullptr && state.made_beside) state.side->wait_for_all();
  state.made_beside = side != nullptr;
}

void prepare_to_be_added_to(const Entry& entry, const SideWork* side) {
  BufferState& state = *entry.state;
  ++state.gradients;
  bring_from_low(state, entry.buffer);
  come_behind(state, side);
  if (state.holds == Holds::anything) entry.buffer.zero_();
  if (state.holds != Holds::gradients) state.was_added_to = true;
  state.holds = Holds::gradients;
}

at::Tensor to_be_added_to(const Entry& entry, const SideWork* side) {
  if (!entry.state) return entry.buffer;
  entry.state->has_others = true;
  prepare_to_be_added_to(entry, side);
  return entry.buffer;
}

}  // namespace

void wait_for_user(BufferState& state) {
  if (const auto wait = std::exchange(state.wait_for_user, {})) wait();
}

void bring_from_low(BufferState& state, const at::Tensor& buffer) {
  if (state.holds != Holds::low) return;
  if (state.made_beside) state.side->wait_for_all();
  at::Tensor(buffer).copy_(state.low);
  state.holds = Holds::gradients;
}

void set_gradient_buffer(const at::Tensor& parameter, const at::Tensor& buffer,
                         std::shared_ptr<BufferState> state) {
  LOCKSTEP_CHECK(buffer.scalar_type() == at::kFloat);
  LOCKSTEP_CHECK(buffer.sizes() == parameter.sizes());
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.buffers[parameter.unsafeGetTensorImpl()] = {buffer, std::move(state)};
}

void forget_gradient_buffer(const at::Tensor& parameter) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  all.buffers.erase(parameter.unsafeGetTensorImpl());
}

at::Tensor gradient_buffer(const at::Tensor& parameter) {
  return to_be_added_to(entry_of(parameter), nullptr);
}

at::Tensor buffer_of_this_pass(const at::Tensor& parameter, SideWork* side) {
  return to_be_added_to(entry_of_this_pass(parameter), side);
}

OwedUpdate* owed_update_of(const at::Tensor& parameter) {
  const Entry entry = entry_of(parameter);
  return entry.state ? entry.state->owed : nullptr;
}

bool add_rows_of_this_pass(const at::Tensor& parameter, const TableRows& rows) {
  const Entry entry = entry_of_this_pass(parameter);
  if (!entry.buffer.defined()) return false;
  TouchedPieces touched;
  if (entry.state) {
    BufferState& state = *entry.state;
    state.has_rows = true;
    state.row_count += rows.rows.numel();
    if (state.kept != nullptr) {
      ++state.gradients;
      state.kept->push_back(rows);
      return true;
    }
    prepare_to_be_added_to(entry, nullptr);
    touched = state.touched;
  }
  add_table_rows(entry.buffer, rows, touched);
  return true;
}

namespace {

bool would_be_low(const Entry& entry, const at::Tensor& parameter) {
  return entry.state && entry.state->takes_low(parameter.scalar_type());
}

FirstBuffer first_of(const Entry& entry, const at::Tensor& parameter, SideWork* side,
                     bool may_be_low) {
  if (!entry.state) return {.buffer = entry.buffer, .is_first = false};
  BufferState& state = *entry.state;
  const bool low = may_be_low && would_be_low(entry, parameter);
  state.has_others = true;
  ++state.gradients;
  bring_from_low(state, entry.buffer);
  come_behind(state, side);
  const Holds before = std::exchange(state.holds, low ? Holds::low : Holds::gradients);
  return {.buffer = low ? state.low : entry.buffer, .is_first = before == Holds::anything};
}

}  // namespace

FirstBuffer first_buffer_of_this_pass(const at::Tensor& parameter, SideWork* side,
                                      bool may_be_low) {
  return first_of(entry_of_this_pass(parameter), parameter, side, may_be_low);
}

FirstBuffer first_strided_buffer_of_this_pass(const at::Tensor& parameter, SideWork* side,
                                              bool may_be_low) {
  return first_of(entry_of_this_pass(parameter, /*strided=*/true), parameter, side, may_be_low);
}

bool would_be_low_in_this_pass(const at::Tensor& parameter) {
  return would_be_low(entry_of_this_pass(parameter), parameter);
}

bool has_buffer_in_this_pass(const at::Tensor& parameter) {
  return entry_of_this_pass(parameter).buffer.defined();
}

SideWork* side_work_for(const std::vector<at::Tensor>& parameters,
                        const std::vector<at::Tensor>& read, bool strided) {
  if (bytes_of(read) > side_work_bytes) return nullptr;
  SideWork* side = nullptr;
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.defined()) continue;
    const Entry entry = entry_of_this_pass(parameter, strided);
    if (!entry.buffer.defined() || !entry.state || entry.state->side == nullptr) return nullptr;
    side = entry.state->side;
  }
  return side;
}

InnerPass::InnerPass(const std::vector<at::Tensor>& parameters)
    : outer_(torch::autograd::get_current_graph_task_id()), around_(inner_pass) {
  for (const at::Tensor& parameter : parameters)
    parameters_.insert(parameter.unsafeGetTensorImpl());
  inner_pass = this;
}

InnerPass::~InnerPass() { inner_pass = around_; }

// A thread that waits for the inner pass may go on with the outer one meanwhile.
bool InnerPass::fills(const at::Tensor& parameter) const {
  return torch::autograd::get_current_graph_task_id() != outer_ &&
         parameters_.count(parameter.unsafeGetTensorImpl()) > 0;
}

}  // namespace lockstep
