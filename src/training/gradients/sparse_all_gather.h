// The sparse all-gather. A step uses few rows of a sparse parameter ("table"). So the ranks gather
// the gradients of these rows instead of reducing whole tables. The gradient of a tied embedding is
// dense, so the reducer's buckets reduce it.
#pragma once

#include "ops/embedding/sparse_rows.h"
#include "training/distributed/process_group.h"
#include "training/gradients/gradient_buffers.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep {

// A batch uses few words of a vocabulary. The gradient of their table comes last in a backward
// pass, so nothing can overlap with its all-reduce. Only captured steps use the sparse all-gather.
// In them each rank has the same number of rows in every step, and the ranks agree on it before.
// All ranks add up all rows in one order, so their sums are bitwise equal. The sum of an all-reduce
// may differ from them in its last bits. Used only in low precision and only if ranks do not share
// the update. One thread.
class SparseAllGather {
 public:
  SparseAllGather(GradientBuffers& gradients, ProcessGroup& group);  // both outlive it

  // Returns by parameter how many rows the gradient had in this rank's last step. -1: the gradient
  // was not made of rows alone. Empty if there is one rank.
  std::vector<std::int64_t> counts() const;
  // All ranks call it before they capture a step like the one for which `counts` returned these
  // counts. The result holds ParameterPlan::rows_of_ranks by parameter. Empty: no parameter uses
  // the sparse all-gather.
  using AgreedRows = std::vector<std::vector<std::int64_t>>;
  AgreedRows agree(const std::vector<std::int64_t>& counts);

  // Called in the capture, which ends with `end`. From here on operations give rows for the
  // parameters for which the plan in use wants rows.
  void begin();
  // Whether parameter i's gradient uses the sparse all-gather; the same on all ranks.
  bool takes(std::size_t i) const { return !kept_.empty() && most_rows(i) > 0; }
  // Call it when all rows of parameter i are there. Packs them for sending. Throws Error if their
  // number is not the one agreed on.
  void prepare(std::size_t i);
  // All ranks call it after `prepare`, for the parameters in one order.
  void send(std::size_t i);
  // Adds the rows of all ranks to GradientBuffers::flat, for each parameter that was sent. Returns
  // these parameters.
  std::vector<std::size_t> finish();
  void end();

 private:
  struct Sent {
    std::size_t parameter = 0;
    // u8 [ranks, bytes]. Each rank has i64 [2, most], the rows and their order, and then [most, D]
    // of the gradient.
    at::Tensor all;
    std::int64_t bytes_of_row = 0;  // bytes of a row of the gradient
    std::unique_ptr<Pending> pending;
  };
  bool adds_rows(std::size_t i) const;
  Sent empty_for(std::size_t i, std::int64_t most) const;
  SparseRows rows_of(const Sent& sent, std::int64_t rank) const;
  bool pays(std::size_t i, std::int64_t rows) const;
  const std::vector<std::int64_t>& rows_of_ranks(std::size_t i) const;
  std::int64_t most_rows(std::size_t i) const;  // room for a rank's rows; 0: no sparse all-gather
  void connect(AgreedRows& agreed);

  ParameterStorage& storage_;
  GradientBuffers& gradients_;
  ProcessGroup& group_;
  std::vector<std::vector<SparseRows>> kept_;  // by parameter; empty: no capture
  std::vector<Sent> sent_;
  bool has_connected_ = false;  // `connect` has run the collective once, outside of a capture
};

}  // namespace lockstep
