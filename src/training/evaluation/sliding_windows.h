// Applies a model to an input that is larger than the model's input, and perhaps larger than
// memory. The model computes window by window. Where windows overlap, their results are averaged
// with weights.
#pragma once

#include "training/evaluation/window_grid.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

struct WindowOptions {
  std::vector<std::int64_t> input;   // elements along each of 1 to 4 dimensions, without channels
  std::vector<std::int64_t> window;  // elements of a window along each of these dimensions
  double overlap = 0.5;  // fraction of a window that the next window covers too, in [0, 1)
  WindowWeights weights = WindowWeights::gaussian;
  std::int64_t batch = 1;        // windows per call of the model
  double fill = 0;               // the value of window elements outside of the input
  at::Device device = at::kCPU;  // where the model computes
  // The device that keeps the slabs; usually `device`. Slabs are buffers for the part of the input,
  // and of the summed results, that is in use.
  at::Device slabs_on = at::kCPU;
};

// Rows [begin, end) of an input: indexes along its first dimension.
struct RowRange {
  std::int64_t begin = 0, end = 0;
};

// Windows are computed in a fixed order, in which the first dimension varies slowest. For each
// element, the weighted results of all windows that contain it are added in this order. The sum is
// divided by the sum of the weights. So the result is bitwise the same for any `batch`, any
// division into parts and any device for the slabs. This requires that the model's result for a
// window does not depend on the other windows of its batch. Each call of the model gets the same
// number of windows. The object is immutable. Several threads may call `run` at the same time.
class SlidingWindows {
 public:
  // Returns rows of the input, [channels, end - begin, rest…], on any device. `rest…` stands for
  // the sizes of the dimensions after the first. The dtype must be the same in all calls. Calls ask
  // for rows in ascending order, and for no row twice.
  using Read = std::function<at::Tensor(RowRange rows)>;
  // Runs the model. windows: [batch(), channels, window…] in the input's dtype on `device`,
  // contiguous. Returns [batch(), results, window…], in a floating-point dtype, on `device`;
  // `results` is the number of output channels. Autograd is off during the call. The last batch is
  // filled up with windows that contain only `fill`.
  using Predict = std::function<at::Tensor(const at::Tensor& windows)>;
  // Takes rows of the result, [results, end - begin, rest…] on `slabs_on`. The rows are f64 if the
  // model returns f64, else f32. The function may keep `values`. Calls pass the rows in ascending
  // order, each row once.
  using Write = std::function<void(RowRange rows, const at::Tensor& values)>;

  // Throws Error if an option is invalid.
  explicit SlidingWindows(WindowOptions options);

  std::int64_t count() const;               // number of windows over the whole input
  std::int64_t count(RowRange rows) const;  // number of windows that overlap these rows
  // Windows per call of the model: the smaller of options.batch and count().
  std::int64_t batch() const { return batch_; }
  RowRange all() const { return {0, options_.input[0]}; }
  // Returns the rows of part number `part` of `parts` parts, so that ranks can share one input. All
  // parts together cover all rows. A layer consists of all windows that begin at the same row. Some
  // parts are empty if there are more parts than layers. A window that overlaps two parts is
  // computed for both, so ranks need not exchange anything. With `overlap` 0.5, each cut between
  // two parts costs the computation of one layer more.
  RowRange part(std::int64_t part, std::int64_t parts) const;
  // Returns the bytes of the slabs of a run. A batch of windows and the model need memory in
  // addition. The slabs hold the rows of input and result that the windows of one batch can
  // overlap.
  //   channels: channels of the input
  //   channel_bytes: bytes of an input element
  //   results: channels of the result, whose dtype is assumed to be f32
  std::int64_t slab_bytes(std::int64_t channels, std::int64_t channel_bytes,
                          std::int64_t results) const;

  // Computes the result of these rows and passes it to `write`. Throws Error if `read` or `predict`
  // returns a wrong shape or dtype. Exceptions of `read`, `predict` and `write` are not caught.
  void run(RowRange rows, const Read& read, const Predict& predict, const Write& write) const;
  void run(const Read& read, const Predict& predict, const Write& write) const {
    run(all(), read, predict, write);
  }

 private:
  friend class WindowSweep;
  std::int64_t per_layer() const;  // number of windows in a layer
  std::int64_t slab_rows() const;  // largest number of rows that a batch's windows can overlap
  // Returns the layers [begin, end) whose windows overlap the rows. `rows` must not be empty.
  RowRange layers_of(RowRange rows) const;
  // Returns the index of the window along each dimension.
  std::vector<std::int64_t> place_of(std::int64_t window) const;

  WindowOptions options_;
  std::vector<WindowLine> lines_;  // one per dimension
  std::int64_t batch_ = 1;
};

}  // namespace lockstep
