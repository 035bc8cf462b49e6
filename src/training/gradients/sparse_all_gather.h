// The sparse all-gather. A step uses few rows of a sparse parameter ("table"): the ranks gather the
// gradients of those rows, not of whole tables. The gradient of a tied embedding is dense, and goes
// by the reducer's buckets.
#pragma once

#include "ops/embedding/sparse_rows.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// A batch uses few words of a vocabulary. The gradient of their table is the last of a backward
// pass, so nothing hides its all-reduce. Only captured steps exchange rows: each rank then has the
// same number of rows in every step, agreed on before. All ranks add up all rows in one order, so
// their sums are equal to the bit; an all-reduce may give other last bits. Used in low precision,
// where ranks do not share the update. One thread.
class SparseAllGather {
 public:
  SparseAllGather(GradientBuffers& gradients, ProcessGroup& group);  // both outlive it

  // By parameter, for the last step on this rank: how many rows the gradient has, if it is rows and
  // nothing else; else -1. Empty if there is one rank.
  std::vector<std::int64_t> counts() const;
  // All ranks, before the capture of a step like the one for which `counts` returned this. By
  // parameter: ParameterPlan::rows_of_ranks. Empty: none goes as rows.
  using AgreedRows = std::vector<std::vector<std::int64_t>>;
  AgreedRows agree(const std::vector<std::int64_t>& counts);

  // In the capture, which ends with `end`. From here on operations give rows, where the plan in use
  // wants them.
  void begin();
  // Whether parameter i's gradient goes this way; the same on all ranks.
  bool takes(std::size_t i) const { return !kept_.empty() && most_rows(i) > 0; }
  // When all of parameter i's rows are there: puts them side by side. Throws Error where there are
  // others than agreed on.
  void prepare(std::size_t i);
  // All ranks, in one order, behind that.
  void send(std::size_t i);
  // All rows of what was sent come into GradientBuffers::flat. Returns these parameters.
  std::vector<std::size_t> finish();
  void end();

 private:
  struct Sent {
    std::size_t parameter = 0;
    // u8 [ranks, bytes]: of each i64 [2, most] rows and their order, and [most, D] of the gradient.
    at::Tensor all;
    std::int64_t bytes_of_row = 0;  // of the gradient
    std::unique_ptr<Pending> pending;
  };
  bool adds_rows(std::size_t i) const;
  Sent empty_for(std::size_t i, std::int64_t most) const;
  SparseRows rows_of(const Sent& sent, std::int64_t rank) const;
  bool pays(std::size_t i, std::int64_t rows) const;
  const std::vector<std::int64_t>& rows_of_ranks(std::size_t i) const;
  std::int64_t most_rows(std::size_t i) const;  // room for a rank's rows; 0: not this way
  void connect(AgreedRows& agreed);

  ParameterStorage& storage_;
  GradientBuffers& gradients_;
  ProcessGroup& group_;
  std::vector<std::vector<SparseRows>> kept_;  // by parameter; empty: no capture
  std::vector<Sent> sent_;
  bool has_connected_ = false;  // the collective
};

}  // namespace lockstep
