// Gathers the gradients of a sparse parameter's rows, in place of an all-reduce of the whole
// parameter. A sparse parameter is one whose gradient has few rows, such as an embedding. The
// gradient of a tied embedding is dense, so the reducer's buckets reduce it.
#pragma once

#include "ops/embedding/sparse_rows.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// A batch uses few rows of an embedding. Backward makes the embedding's gradient last, so nothing
// can overlap with its all-reduce. Only captured steps use the sparse all-gather, because all
// replays of a graph have the same number of rows on a rank. The ranks exchange these numbers
// before the capture. All ranks add up all rows in the same order, so their sums are bitwise equal.
// The sums of an all-reduce may differ from these sums in the last bits. The sparse all-gather is
// used only in bf16 or fp16, and only if the optimizer is not sharded. It is not used if ATen must
// use deterministic algorithms. All calls must come from one thread.
class SparseAllGather {
 public:
  // Both arguments must outlive this object.
  SparseAllGather(GradientBuffers& gradients, ProcessGroup& group);

  // Returns for each parameter how many rows its gradient had in this rank's last step. The number
  // is -1 if the gradient did not consist of rows only, or if its sum is not in f32. The list is
  // empty if there is one rank.
  std::vector<std::int64_t> counts() const;
  // All ranks call it before they capture a step. counts: the result of `counts` after a step of
  // the same shapes. Returns ParameterPlan::rows_of_ranks for each parameter, or an empty list if
  // no parameter can use the sparse all-gather.
  using AgreedRows = std::vector<std::vector<std::int64_t>>;
  AgreedRows agree(const std::vector<std::int64_t>& counts);

  // Call it when a capture begins, and `end` when the capture ends. Between the two calls, rows are
  // stored and not added up, for all parameters that use the sparse all-gather by the current plan.
  void begin();
  // Whether parameter i's gradient uses the sparse all-gather; the same on all ranks.
  bool takes(std::size_t i) const { return !kept_.empty() && most_rows(i) > 0; }
  // Packs the rows of parameter i for sending. Call it when all rows of this step have arrived.
  // Throws Error if their number is not the agreed one, or if the gradient does not consist of rows
  // only.
  void prepare(std::size_t i);
  // Starts to gather the rows of parameter i. All ranks call it after `prepare`, in the same order
  // of parameters.
  void send(std::size_t i);
  // Waits for the rows of all parameters that were sent, and adds them to GradientBuffers::flat.
  // Returns these parameters.
  std::vector<std::size_t> finish();
  void end();

 private:
  struct Sent {
    std::size_t parameter = 0;
    // u8 [ranks, bytes]. The bytes of each rank have room for `most` rows, the largest number of
    // rows of a rank. The bytes of a rank hold these parts in order:
    //   - the row numbers, i64 [most]
    //   - the order of the rows (rows_by_token), i64 [most]
    //   - the gradient of the rows, [most, D]
    at::Tensor all;
    std::int64_t bytes_of_row = 0;  // bytes of a row of the gradient
    std::unique_ptr<Pending> pending;
  };
  bool adds_rows(std::size_t i) const;
  Sent empty_for(std::size_t i, std::int64_t most) const;
  SparseRows rows_of(const Sent& sent, std::int64_t rank) const;
  bool pays(std::size_t i, std::int64_t rows) const;
  const std::vector<std::int64_t>& rows_of_ranks(std::size_t i) const;
  // The largest number of rows of a rank, or 0 if parameter i does not use the sparse all-gather.
  std::int64_t most_rows(std::size_t i) const;
  void connect(AgreedRows& agreed);

  ParameterStorage& storage_;
  GradientBuffers& gradients_;
  ProcessGroup& group_;
  std::vector<std::vector<SparseRows>> kept_;  // rows of each parameter; empty outside of a capture
  std::vector<Sent> sent_;
  bool has_connected_ = false;  // `connect` has run a first gather before a capture
};

}  // namespace lockstep
