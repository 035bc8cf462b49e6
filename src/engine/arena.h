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
//  bf16, fp16: views of `working`, a copy of `master` that `refresh_working` makes; gradients of
//  that dtype are added into the fp32 `gradients` as they appear and dropped.
// Operations that know kernels/gradient_buffer.h write into `gradients` themselves.
// One that the model registers under two names lies there once, under the first. Frozen parameters
// are moved to the device beside it.
//
// With `sharing`, its ranks share the optimizer's work: each bucket is cut into a piece per rank,
// and `own` are this rank's. What only the update needs is kept for these alone: in low precision
// also the master weights. One rank shares nothing. Owns the buffers; the model keeps the handles.
// One thread, on the training stream.
class Arena {
 public:
  // Throws Error for parameters that sort_parameters refuses.
  Arena(const std::vector<Parameter>& registered, at::Device device, at::ScalarType compute_dtype,
        ProcessGroup* sharing = nullptr, std::int64_t bucket_bytes = usual_bucket_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  const std::vector<Parameter>& parameters() const { return parameters_; }  // trained, each once
  // All that stand for parameter i's memory, its own first; those that require grad are leaves of
  // their own.
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
  // Before the first step: ranks add up gradients in bf16.
  void sum_in_bf16();
  // bf16 [elements]; undefined: gradients are added up where they are.
  const at::Tensor& sums() const { return sums_; }
  // Before the first step: who reads the sums can do so in bf16.
  void leave_sums() { may_leave_sums_ = true; }
  // To `sums`, gradients of these parameters that were not written there at once.
  void fill_sums(const std::vector<std::size_t>& parameters);
  // To `gradients`, sums of these parameters that are to be read there (sums_of).
  void bring_sums(const std::vector<std::size_t>& parameters);
  // All backward passes of the first step are done, and none broke off: decides, once, of which
  // parameters sums are left. Those of large tables are not, because their rows are added up in f32
  // (RowExchange).
  void choose_sums();
  bool leaves_sums() const { return !leaves_sum_.empty(); }
  // Where sums of parameter i are to be read: `sums` or `gradients`.
  const at::Tensor& sums_of(std::size_t i) const {
    return leaves_sums() && leaves_sum_[i] ? sums_ : gradients_;
  }
  // The part of a flat buffer [elements] that parameter i fills, in its shape, with the strides
  // that it was built with where it was dense (engine/layout.h).
  at::Tensor view(const at::Tensor& flat, std::size_t i) const;
  // The same of that part alone, [sizes()[i]].
  at::Tensor shaped(const at::Tensor& row, std::size_t i) const;
  // Elements [begin, end) of `piece` in a flat buffer: [elements], or [own_elements].
  at::Tensor range(const at::Tensor& flat, const Piece& piece, std::int64_t begin,
                   std::int64_t end) const;
  // Parameter i's values, of its shape, into such a buffer, as far as it holds them.
  void fill(const at::Tensor& flat, std::size_t i, const at::Tensor& values) const;
  // The weights of parameter i, wherever they are kept.
  void set_weights(std::size_t i, const at::Tensor& values);

  void zero_gradients();
  // A step begins. In low precision a gradient that is there before any other is written over what
  // its place holds, so only the rest is zeroed: a parameter belongs to the rest from the first
  // step on in which its first gradient had to be added to zeros, or did not come. may_prepare:
  // false while a graph is recorded.
  void begin_gradients(bool may_prepare);
  // The same in parts (a number for each parameter), for a graph: before it is recorded
  // `cut_zeros`, in it `begin_gradients_in_parts`, and `zero_part` for each before anything adds a
  // gradient of it. all: zero what would be written over, too.
  void cut_zeros(const std::vector<std::size_t>& part_of, bool all);
  void begin_gradients_in_parts();
  void zero_part(std::size_t part);
  // Of a table only the rows that some step used have gradients and moments. From now on operations
  // that add rows set `touched` there (touched_piece); it means nothing before `find_touched`. Only
  // in low precision, and where no ranks share the update.
  void watch_tables();
  // u8 [pieces]; undefined: nobody watches.
  const at::Tensor& touched() const { return touched_; }
  // Parameters whose gradients were rows so far, and nothing else.
  bool is_table(std::size_t i) const;
  // Of tables what is not 0 in one of these flat [elements], or has a gradient, is touched; of
  // other parameters all.
  void find_touched(const std::vector<at::Tensor>& flats);
  // All of parameter i, after something else than its rows was added. On the device.
  void touch(std::size_t i);
  // Rows of the table that this step's backward passes had so far.
  std::int64_t row_count(std::size_t i) const { return states_[i]->row_count; }
  // Where rows of table i go from now on instead of `gradients`; null: nowhere.
  void keep_rows(std::size_t i, std::vector<TableRows>* kept) { states_[i]->kept = kept; }
  // Before operations read rows of table i; null: nothing.
  void set_owed(std::size_t i, OwedUpdate* owed) { states_[i]->owed = owed; }
  // Before the gradients of table i are used: `wait` makes the current stream wait for who still
  // reads what the step before left there, and zeroes it.
  void set_user(std::size_t i, std::function<void()> wait) {
    states_[i]->wait_for_user = std::move(wait);
  }
  // To `gradients`, what was kept.
  void add_rows(std::size_t i, const TableRows& rows);
  // All backward passes of the step are done: 0 where no gradient came.
  void settle_gradients();
  // After a backward pass that broke off: zero, and nothing waits to be taken. Allocates nothing.
  void drop_gradients();
  // Called once all of a backward pass that concerns parameter i is done. Low precision: takes what
  // arrived in .grad for `gradients`, where it is from place_gradients() on at the latest.
  // Throws Error with its name while gradients are refused.
  void take_gradient(std::size_t i);
  // Before anything reads `gradients`, and after each backward pass.
  void place_gradients();
  // `work` reads `gradients` as they are so far; where they are made beside, it is given to that
  // side, and what comes next on the current stream does not wait.
  void behind_gradients(const std::function<void()>& work);
  // Where gradients may be made beside what comes next, until it is another; null: nowhere.
  void make_gradients_beside(SideWork* side);
  void refuse_gradients(bool on) { refuses_gradients_ = on; }
  // After the master weights changed: the working copy, as far as this rank has them.
  void refresh_working();
  // After ranks that share changed their pieces of what the model computes with: the others'
  // pieces.
  void gather_weights();

  // The model computes with other weights instead of its own, f32 [own_elements], until
  // `show_weights`. Between steps only, by all ranks that share; no copy in fp32 without sharing.
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
  std::vector<bool> leaves_sum_;                      // by parameter; empty: of none yet
  std::vector<std::shared_ptr<BufferState>> states_;  // by parameter, of its gradient
  std::vector<bool> written_;  // by parameter: its place may hold anything when a step begins
  std::vector<std::unique_ptr<ZeroRanges>> zeroed_;  // the others'; the last counts; empty: all
  // By part, of the last recording; those of recordings before.
  std::vector<std::unique_ptr<ZeroRanges>> zeroed_parts_, earlier_parts_;
  bool zeroes_all_ = false;  // in parts
  at::Tensor touched_;
  SideWork* side_ = nullptr;
  // Places, and what is to be written over them: many at once, where each by itself would be a
  // launch.
  std::vector<std::pair<at::Tensor, at::Tensor>> taken_;
  std::int64_t taken_bytes_ = 0;
  bool refuses_gradients_ = false;
};

}  // namespace lockstep
