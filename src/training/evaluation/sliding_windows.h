// Applies a model to an input that is larger than the model takes, and possibly larger than memory.
// It computes window by window, and adds up the results where windows overlap.
#pragma once

#include "training/evaluation/window_grid.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

struct WindowOptions {
  std::vector<std::int64_t> input;   // elements along each of 1 to 4 dimensions, without channels
  std::vector<std::int64_t> window;  // elements of a window along each of them
  double overlap = 0.5;              // share of a window that neighbours have in common; [0, 1)
  WindowWeights weights = WindowWeights::gaussian;
  std::int64_t batch = 1;          // windows per call of the model
  double fill = 0;                 // the value of window elements outside of the input
  at::Device device = at::kCPU;    // where the model computes
  at::Device slabs_on = at::kCPU;  // where rows and sums are kept until they are complete; usually
                                   // `device`
};

// Rows [begin, end) of an input: indexes along its first dimension.
struct RowRange {
  std::int64_t begin = 0, end = 0;
};

// Windows come in order, and the first dimension varies slowest. Each element of the result is the
// weighted sum of its windows in this order, divided by the sum of their weights. So the result is
// bitwise the same for any `batch`, any parts and either place of the slabs. This holds as far as
// the model's result for a window does not depend on the other windows of its batch. Each call of
// the model gets the same number of windows. Immutable. Several threads may each run it at the same
// time.
class SlidingWindows {
 public:
  // Returns rows of the input, [channels, end - begin, rest…], on any device, always in the same
  // dtype. Called in ascending order, for each row once.
  using Read = std::function<at::Tensor(RowRange rows)>;
  // windows: [batch(), channels, window…] of the input's dtype on `device`, contiguous. Returns
  // [batch(), results, window…], floating, on `device`. Called without gradients. The last batch is
  // filled up with windows of `fill`.
  using Predict = std::function<at::Tensor(const at::Tensor& windows)>;
  // Takes rows of the result, [results, end - begin, rest…], f32 (f64 if the model returns f64), on
  // `slabs_on`. The receiver may keep `values`. Called in ascending order, for each row once.
  using Write = std::function<void(RowRange rows, const at::Tensor& values)>;

  // Throws Error for options that are not valid.
  explicit SlidingWindows(WindowOptions options);

  std::int64_t count() const;                    // number of windows over the whole input
  std::int64_t count(RowRange rows) const;       // number of windows that overlap these rows
  std::int64_t batch() const { return batch_; }  // options.batch, or count() if that is less
  RowRange all() const { return {0, options_.input[0]}; }
  // Returns the rows of part `part` of `parts`, for ranks that share one input. All parts together
  // are all(). Some are empty if there are more parts than layers of windows. Windows that overlap
  // two parts are computed for both, and ranks exchange nothing. With `overlap` 0.5 each cut costs
  // one more layer of windows.
  RowRange part(std::int64_t part, std::int64_t parts) const;
  // The memory that a run keeps in slabs, in addition to a batch of windows and the model's own
  // memory. A slab has rows of input and result for all layers of windows that a batch overlaps.
  std::int64_t slab_bytes(std::int64_t channels, std::int64_t channel_bytes,
                          std::int64_t results) const;

  // Passes the result of these rows to `write`. Throws Error if `read` or `predict` returns a wrong
  // shape. Lets exceptions of the functions pass.
  void run(RowRange rows, const Read& read, const Predict& predict, const Write& write) const;
  void run(const Read& read, const Predict& predict, const Write& write) const {
    run(all(), read, predict, write);
  }

 private:
  friend class WindowSweep;
  std::int64_t per_layer() const;  // windows at each place along the first dimension
  std::int64_t slab_rows() const;  // rows that a batch can overlap
  // The layers of windows that overlap the rows; `rows` is not empty.
  RowRange layers_of(RowRange rows) const;
  std::vector<std::int64_t> place_of(std::int64_t window) const;  // along each dimension

  WindowOptions options_;
  std::vector<WindowLine> lines_;  // one per dimension
  std::int64_t batch_ = 1;
};

}  // namespace lockstep
