// The parameter arena: all parameters, gradients and optimizer state of a model as flat buffers.
#pragma once

#include "engine/frozen_parameters.h"
#include "engine/model_parameters.h"
#include "engine/recipe.h"
#include "kernels/gradient_buffer.h"
#include "kernels/zero_ranges.h"
#include "plan/buckets.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

class ProcessGroup;

// Elements [begin, end) of the arena that a rank updates; they begin at `at` in buffers that hold
// the rank's own pieces only, one behind the other.
struct Piece {
  std::int64_t begin = 0, end = 0, at = 0;
  std::int64_t size() const { return end - begin; }
};

// Takes a freshly built model's parameters (CPU) and makes those that are trained (fp32) views into
// flat buffers on the device, laid out by plan/buckets.h. Afterwards their Parameter::tensor
// handles are:
//  compute dtype fp32: views of `master`, whose .grad are views of `gradients`;
//  bf16, fp16: views of `working`, a copy of `master` that `refresh_working` makes. A .grad of that
//  dtype is taken (`take_gradient`) and goes into the fp32 `gradients`, or into `sums`.
// Operations that know kernels/gradient_buffer.h write into these buffers themselves.
// A parameter that the model registers under two names lies there once, under the first. Frozen
// parameters are moved to the device beside it.
//
// With `sharing` the optimizer is sharded over its ranks: each bucket is cut into a shard ("piece")
// per rank, and `own` are this rank's. Whatever only the update needs is kept for these alone: in
// low precision also the master weights. One rank shares nothing. Owns the buffers; the model keeps
// the handles. One thread, on the training stream.
class Arena {
 public:
  // Throws Error for parameters that sort_parameters refuses.
  Arena(const std::vector<Parameter>& registered, at::Device device, at::ScalarType compute_dtype,
        ProcessGroup* sharing = nullptr, std::int64_t bucket_bytes = usual_bucket_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  const std::vector<Parameter>& parameters() const { return parameters_; }  // trained, each once
  // All tensors of the model that share parameter i's memory, its own first. Each of them that
  // requires grad is a leaf of autograd.
  const std::vector<at::Tensor>& handles(std::size_t i) const { return handles_[i]; }
  const FrozenParameters& frozen() const { return frozen_; }
  FrozenParameters& frozen() { return frozen_; }
  const std::vector<Alias>& aliases() const { return aliases_; }
  const ArenaLayout& layout() const { return layout_; }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  const std::vector<Bucket>& buckets() const { return buckets_; }
  bool low_precision() const { return working_.defined(); }
  // The end of parameter i's place, and of the padding behind it.
  std::int64_t end_of(std::size_t i) const;
  // Null where every rank does the whole update.
  ProcessGroup* sharing() const { return sharing_; }
  // A piece per bucket, or the whole arena as one.
  const std::vector<Piece>& own() const { return own_; }
  std::int64_t own_elements() const { return own_.back().at + own_.back().size(); }

  // f32 [elements]; padding between parameters is 0. Shared in low precision: [own_elements].
  at::Tensor& master() { return master_; }
  const at::Tensor& master() const { return master_; }
  at::Tensor& gradients() { return gradients_; }  // f32 [elements]
  const at::Tensor& gradients() const { return gradients_; }
  const at::Tensor& working() const { return working_; }  // undefined in fp32
  // Before the first step: ranks reduce gradients in bf16. Allocates `sums`.
  void sum_in_bf16();
  // The reduce buffer, bf16 [elements]; undefined: `gradients` themselves are reduced.
  const at::Tensor& sums() const { return sums_; }
  // Before the first step: norm and update can read sums in bf16, so that they need not be copied
  // back to `gradients`.
  void leave_sums() { may_leave_sums_ = true; }
  // Rounds these parameters' gradients into `sums`, but those that were written there at once.
  void fill_sums(const std::vector<std::size_t>& parameters);
  // Copies these parameters' sums back to `gradients`, where sums_of says that they are read there.
  void bring_sums(const std::vector<std::size_t>& parameters);
  // After the first step whose backward passes all ran to their end; later calls do nothing.
  // Decides which parameters' sums stay in `sums`. Those of large sparse parameters do not, because
  // RowExchange adds rows up in f32.
  void choose_sums();
  bool leaves_sums() const { return !leaves_sum_.empty(); }
  // The flat buffer in which parameter i's sum over the ranks is read: `sums` or `gradients`.
  const at::Tensor& sums_of(std::size_t i) const {
    return leaves_sums() && leaves_sum_[i] ? sums_ : gradients_;
  }
  // Parameter i's part of a flat buffer [elements], in its shape. It has the strides that it was
  // built with where it was dense (engine/layout.h).
  at::Tensor view(const at::Tensor& flat, std::size_t i) const;
  // The same view of a row [sizes()[i]] that holds parameter i alone.
  at::Tensor shaped(const at::Tensor& row, std::size_t i) const;
  // Elements [begin, end) of `piece` in a flat buffer: [elements], or [own_elements].
  at::Tensor range(const at::Tensor& flat, const Piece& piece, std::int64_t begin,
                   std::int64_t end) const;
  // Writes parameter i's values, of its shape, into such a buffer, as far as it holds them.
  void fill(const at::Tensor& flat, std::size_t i, const at::Tensor& values) const;
  // Writes parameter i's weights, to the master and to the working copy.
  void set_weights(std::size_t i, const at::Tensor& values);

  void zero_gradients();
  // A step begins, and the update of the step before is enqueued. In low precision the first
  // gradient of most parameters overwrites their place, so only the other places are zero-filled: a
  // parameter belongs to these once its first gradient had to be added, or none came, in any step.
  // may_prepare: false while a graph is captured, because device tables may be needed.
  void begin_gradients(bool may_prepare);
  // The same for a graph that begins with an update, by update group ("part"). Before the capture
  // `cut_zeros`, where part_of is the group of each parameter. In it `begin_gradients_in_parts`,
  // which enqueues nothing, and `zero_part` for each group: behind its update, and before anything
  // adds a gradient of it. all: zero-fill also what gradients would overwrite.
  void cut_zeros(const std::vector<std::size_t>& part_of, bool all);
  void begin_gradients_in_parts();
  void zero_part(std::size_t part);
  // Tracks which pieces (touched_piece elements) of sparse parameters ("tables") are dirty. Only
  // rows that some step used have gradients and moments other than 0. From now on operations that
  // add rows mark their pieces in `touched`, which means nothing before `find_touched`. Does
  // nothing in fp32, or where the optimizer is sharded.
  void watch_tables();
  // u8 [pieces], 1: dirty. Undefined: not tracked.
  const at::Tensor& touched() const { return touched_; }
  // Whether parameter i is sparse: its gradients came as rows so far, and never otherwise.
  bool is_table(std::size_t i) const;
  // Finds `touched` anew. A piece of a sparse parameter is dirty if its gradient, or one of these
  // flat buffers [elements], holds something other than 0 there. All pieces of other parameters
  // are.
  void find_touched(const std::vector<at::Tensor>& flats);
  // Marks all of parameter i as dirty, on the device: other ranks add to it.
  void touch(std::size_t i);
  // How many rows parameter i's gradients had in this step so far.
  std::int64_t row_count(std::size_t i) const { return states_[i]->row_count; }
  // Rows of sparse parameter i are appended to `kept` from now on, not added to `gradients`. Null:
  // they are added again.
  void keep_rows(std::size_t i, std::vector<TableRows>* kept) { states_[i]->kept = kept; }
  // A deferred update of sparse parameter i, which operations must ask before they read rows. Null:
  // its weights are up to date.
  void set_owed(std::size_t i, OwedUpdate* owed) { states_[i]->owed = owed; }
  // wait: called once, before anything uses the gradient of sparse parameter i. It makes the
  // current stream wait for the deferred update, which reads the gradient of the step before, and
  // for the zero-fill behind it.
  void set_user(std::size_t i, std::function<void()> wait) {
    states_[i]->wait_for_user = std::move(wait);
  }
  // Adds rows that were kept, of any rank, to `gradients`.
  void add_rows(std::size_t i, const TableRows& rows);
  // All backward passes of the step are done: zero-fills the places to which no gradient came.
  void settle_gradients();
  // After a backward pass that broke off, or whose gradients nobody wants: all become 0, and no
  // copy waits any more. Allocates nothing. Counts of the step (BufferState::gradients) stay.
  void drop_gradients();
  // Called once all of a backward pass that concerns parameter i is done. In low precision it takes
  // what arrived in .grad: added at once, or queued to be copied by place_gradients(), many in one
  // launch. Throws Error with the parameter's name while gradients are refused.
  void take_gradient(std::size_t i);
  // Before anything reads `gradients`, and after each backward pass: the current stream waits for
  // all side work, and queued copies are made.
  void place_gradients();
  // Runs `work`, which reads `gradients` as they are so far: on the side stream where they are made
  // there, so that the current stream does not wait for them, else at once.
  void behind_gradients(const std::function<void()>& work);
  // The side stream on which gradients may be made from now on; null: none.
  void make_gradients_beside(SideWork* side);
  void refuse_gradients(bool on) { refuses_gradients_ = on; }
  // Casts this rank's master weights to the working copy.
  void refresh_working();
  // Where the optimizer is sharded: gathers the other ranks' pieces of the weights that the model
  // computes with. All ranks, after each changed its own.
  void gather_weights();

  // The model computes with these weights, f32 [own_elements], in place of its own, until
  // `show_weights`. Between steps only, by all ranks that share. In fp32 without sharing nothing is
  // copied.
  void show(const at::Tensor& flat);
  void show_weights();

 private:
  Arena(ModelParameters sorted, at::Device device, at::ScalarType compute_dtype,
        ProcessGroup* sharing, std::int64_t bucket_bytes);
  void find_own_pieces();
  void gather(const at::Tensor& flat);
  void point_at(const at::Tensor& flat);
  void choose_written();
  template <class Wanted>
  std::unique_ptr<ZeroRanges> zeros_of(const Wanted& wanted) const;
  void place_taken();
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  template <class Wanted>
  Ranges ranges_of(std::vector<std::size_t> parameters, const Wanted& wanted) const;
  void settle(std::size_t i);
  void forget_taken();
  void forget_step();
  std::vector<Parameter> parameters_;
  std::vector<std::vector<at::Tensor>> handles_;
  FrozenParameters frozen_;
  std::vector<Alias> aliases_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<std::int64_t>> strides_;
  ArenaLayout layout_;
  std::vector<Bucket> buckets_;
  ProcessGroup* sharing_ = nullptr;
  std::vector<Piece> own_;
  at::Tensor master_, gradients_, working_, sums_;
  bool may_leave_sums_ = false;
  std::vector<bool> leaves_sum_;                      // by parameter; empty: not decided yet
  std::vector<std::shared_ptr<BufferState>> states_;  // by parameter, of its gradient
  std::vector<bool> written_;  // by parameter: its first gradient overwrites its place
  // The places of the others. The last entry is in use, graphs may hold those before; empty: all.
  std::vector<std::unique_ptr<ZeroRanges>> zeroed_;
  // By update group, for the next capture; those of earlier captures, which graphs hold.
  std::vector<std::unique_ptr<ZeroRanges>> zeroed_parts_, earlier_parts_;
  bool zeroes_all_ = false;  // in parts
  at::Tensor touched_;
  SideWork* side_ = nullptr;
  // Queued copies: the places, and the gradients that go there.
  std::vector<std::pair<at::Tensor, at::Tensor>> taken_;
  std::int64_t taken_bytes_ = 0;
  bool refuses_gradients_ = false;
};

}  // namespace lockstep
