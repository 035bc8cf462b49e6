// A model over an input that is larger than what it takes, and larger than memory: window by
// window, the results added up where windows overlap.
#pragma once

#include "training/evaluation/window_grid.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace lockstep {

struct WindowOptions {
  std::vector<std::int64_t> input;   // elements along each of 1 to 4 dimensions, without channels
  std::vector<std::int64_t> window;  // the same of a window
  double overlap = 0.5;              // share of a window that neighbours have in common; [0, 1)
  WindowWeights weights = WindowWeights::gaussian;
  std::int64_t batch = 1;          // windows that the model takes at once
  double fill = 0;                 // what a window holds beside an input that is smaller
  at::Device device = at::kCPU;    // where the model computes
  at::Device slabs_on = at::kCPU;  // where rows and sums are kept meanwhile; usually `device`
};

// Rows [begin, end) of an input: indexes along its first dimension.
struct RowRange {
  std::int64_t begin = 0, end = 0;
};

// Windows are taken in order, the first dimension slowest, and every element of the result is the
// weighted sum of its windows in that order, divided by their weights. So the result is the same to
// the bit for any `batch`, any parts and either place of the slabs, as far as the model's result
// for a window does not depend on the others of its batch; the model is always given as many.
// Immutable; one thread each for runs at the same time.
class SlidingWindows {
 public:
  // Rows of the input, [channels, end - begin, rest…] on any device, of one dtype. Asked for in
  // ascending order, each row once.
  using Read = std::function<at::Tensor(RowRange rows)>;
  // windows: [batch(), channels, window…] of the input's dtype on `device`, contiguous. Returns
  // [batch(), results, window…], floating, on `device`. Called without gradients. Windows after the
  // last hold `fill`.
  using Predict = std::function<at::Tensor(const at::Tensor& windows)>;
  // Rows of the result, [results, end - begin, rest…], f32 (f64 of a model of f64), on `slabs_on`,
  // the receiver's to keep. Called in ascending order, each row once.
  using Write = std::function<void(RowRange rows, const at::Tensor& values)>;

  // Throws Error for options that cannot be.
  explicit SlidingWindows(WindowOptions options);

  std::int64_t count() const;                    // of windows over the whole input
  std::int64_t count(RowRange rows) const;       // of those that reach into these rows
  std::int64_t batch() const { return batch_; }  // options.batch, or count() if that is less
  RowRange all() const { return {0, options_.input[0]}; }
  // Rows of part `part` of `parts`, for ranks that share one input: together all(), some empty
  // where there are more parts than layers of windows. Windows that reach into two parts are
  // computed in both, and nothing is exchanged: with `overlap` 0.5 one layer of windows more a cut.
  RowRange part(std::int64_t part, std::int64_t parts) const;
  // Memory that a run keeps in slabs, beside a batch of windows and the model's own. A slab has
  // rows of input and result for as many layers of windows as a batch reaches into.
  std::int64_t slab_bytes(std::int64_t channels, std::int64_t channel_bytes,
                          std::int64_t results) const;

  // Gives `write` the result of these rows. Throws Error if a function returns another shape than
  // it must, and passes on what they throw.
  void run(RowRange rows, const Read& read, const Predict& predict, const Write& write) const;
  void run(const Read& read, const Predict& predict, const Write& write) const {
    run(all(), read, predict, write);
  }

 private:
  friend class WindowSweep;
  std::int64_t per_layer() const;  // windows at each place along the first dimension
  std::int64_t slab_rows() const;  // that a batch can reach over
  // Layers of windows that reach into the rows; `rows` is not empty.
  RowRange layers_of(RowRange rows) const;
  std::vector<std::int64_t> place_of(std::int64_t window) const;  // along each dimension

  WindowOptions options_;
  std::vector<WindowLine> lines_;  // a dimension each
  std::int64_t batch_ = 1;
};

}  // namespace lockstep
