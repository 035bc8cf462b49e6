// Sliding windows over rows that are held in two ring buffers, one for the input and one for the
// sums. A batch of windows is cut from the input ring. Their predictions are added into the sum
// ring.
#include "training/evaluation/sliding_windows.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace lockstep {
namespace {

using Sizes = std::vector<std::int64_t>;

std::string shape_text(at::IntArrayRef sizes) {
  std::vector<std::string> words;
  for (const std::int64_t size : sizes) words.push_back(std::to_string(size));
  return cat("[", join(words, ", "), "]");
}

void check_options(const WindowOptions& options) {
  const std::size_t dimensions = options.input.size();
  if (dimensions < 1 || dimensions > 4)
    throw Error(
        cat("sliding windows need an input of 1 to 4 dimensions beside its channels, but "
            "got ",
            dimensions));
  if (options.window.size() != dimensions)
    throw Error(cat("the window ", shape_text(options.window), " must have as many dimensions as ",
                    "the input ", shape_text(options.input)));
  for (const auto& [name, sizes] : {std::pair{"input", options.input}, {"window", options.window}})
    for (const std::int64_t size : sizes)
      if (size < 1)
        throw Error(cat("the ", name,
                        " of sliding windows must have at least 1 element along each "
                        "dimension, but is ",
                        shape_text(sizes)));
  if (!(options.overlap >= 0 && options.overlap < 1))
    throw Error(cat("the overlap of sliding windows must be at least 0 and below 1, but is ",
                    options.overlap),
                "give the share of a window that neighbours have in common, 0.5 for half of it");
  if (options.batch < 1)
    throw Error(cat("the batch of sliding windows must be at least 1, but is ", options.batch));
}

// Returns the weights [window…] in f32, on the device.
at::Tensor weights_of(const std::vector<WindowLine>& lines, at::Device device) {
  at::Tensor all = at::ones({}, at::kDouble);
  for (const WindowLine& line : lines)
    all = all.unsqueeze(-1) * at::tensor(line.weights, at::kDouble);
  return all.to(at::kFloat).to(device);
}

// Returns rows [begin, end) of a tensor's dimension `dimension`.
at::Tensor rows_of(const at::Tensor& tensor, std::int64_t dimension, std::int64_t begin,
                   std::int64_t end) {
  return tensor.narrow(dimension, begin, end - begin);
}

// A ring buffer with the latest `capacity` rows of [channels, rows, rest…].
class RowRing {
 public:
  RowRing() = default;
  RowRing(std::int64_t channels, std::int64_t capacity, const Sizes& rest,
          const at::TensorOptions& options)
      : capacity_(capacity) {
    Sizes sizes{channels, capacity};
    sizes.insert(sizes.end(), rest.begin(), rest.end());
    memory_ = at::zeros(sizes, options);
  }
  bool is_made() const { return memory_.defined(); }
  const at::Tensor& memory() const { return memory_; }

  // Calls function(rows, view of these rows) once, or twice if the rows wrap around in the ring.
  template <class Function>
  void each(RowRange rows, const Function& function) const {
    while (rows.begin < rows.end) {
      const std::int64_t at = rows.begin % capacity_;
      const std::int64_t end = std::min(rows.end, rows.begin + capacity_ - at);
      function(RowRange{rows.begin, end}, memory_.narrow(1, at, end - rows.begin));
      rows.begin = end;
    }
  }

 private:
  at::Tensor memory_;
  std::int64_t capacity_ = 0;
};

}  // namespace

// One pass of the windows over the input.
class WindowSweep {
 public:
  WindowSweep(const SlidingWindows& windows, RowRange rows, const SlidingWindows::Read& read,
              const SlidingWindows::Predict& predict, const SlidingWindows::Write& write)
      : windows_(windows),
        options_(windows.options_),
        lines_(windows.lines_),
        rows_(rows),
        read_(read),
        predict_(predict),
        write_(write),
        rest_(options_.input.begin() + 1, options_.input.end()),
        weights_(weights_of(lines_, options_.slabs_on)),
        rest_totals_(at::ones({}, at::kDouble)),
        read_until_(std::max<std::int64_t>(0, lines_[0].start(windows.layers_of(rows).begin))),
        written_until_(rows.begin) {
    for (std::size_t d = 1; d < lines_.size(); ++d)
      rest_totals_ = rest_totals_.unsqueeze(-1) * at::tensor(lines_[d].totals, at::kDouble);
    rest_totals_ = rest_totals_.to(options_.slabs_on);
  }

  void run() {
    const std::int64_t per_layer = windows_.per_layer();
    const RowRange layers = windows_.layers_of(rows_);
    const std::int64_t last = layers.end * per_layer;
    for (std::int64_t first = layers.begin * per_layer; first < last; first += windows_.batch()) {
      const std::int64_t end = std::min(last, first + windows_.batch());
      write_until(lines_[0].start(first / per_layer));
      read_rows_until(lines_[0].end((end - 1) / per_layer));
      add(first, end);
    }
    write_until(rows_.end);
  }

 private:
  void read_rows_until(std::int64_t end) {
    const RowRange wanted{read_until_, std::min(end, options_.input[0])};
    if (wanted.begin >= wanted.end) return;
    const at::Tensor values = read_(wanted);
    check_read(wanted, values);
    if (!input_.is_made())
      input_ = RowRing(values.size(0), windows_.slab_rows(), rest_,
                       values.options().device(options_.slabs_on).requires_grad(false));
    input_.each(wanted, [&](RowRange rows, const at::Tensor& place) {
      place.copy_(rows_of(values, 1, rows.begin - wanted.begin, rows.end - wanted.begin));
    });
    read_until_ = wanted.end;
  }

  void check_read(RowRange rows, const at::Tensor& values) const {
    const bool known = input_.is_made();
    Sizes expected{known               ? input_.memory().size(0)
                   : values.dim() == 0 ? 1
                                       : values.size(0),
                   rows.end - rows.begin};
    expected.insert(expected.end(), rest_.begin(), rest_.end());
    const std::string where = cat("rows ", rows.begin, " to ", rows.end, " of the input");
    if (values.sizes() != at::IntArrayRef(expected))
      throw Error(cat(where, " must come as ", shape_text(expected),
                      " (channels, rows, rest), but ", "came as ", shape_text(values.sizes())));
    if (known && values.scalar_type() != input_.memory().scalar_type())
      throw Error(cat(where, " must be ", input_.memory().scalar_type(),
                      " as those before, but are ", values.scalar_type()));
  }

  // The part of window `place` that lies in the input, for each dimension. In the first dimension
  // it is limited to `rows`. Begin and end are counted within the window.
  std::vector<RowRange> inside(const Sizes& place, RowRange rows) const {
    std::vector<RowRange> parts;
    for (std::size_t d = 0; d < lines_.size(); ++d) {
      const RowRange limit = d == 0 ? rows : RowRange{0, lines_[d].input};
      const std::int64_t start = lines_[d].start(place[d]);
      parts.push_back({std::max<std::int64_t>(0, limit.begin - start),
                       std::min(lines_[d].window, limit.end - start)});
    }
    return parts;
  }

  // Calls function(view of the ring's rows in the window, view of the same rows of `window`).
  // `window` is [channels, window…].
  template <class Function>
  void each_overlap(const RowRing& ring, const Sizes& place, const std::vector<RowRange>& parts,
                    const at::Tensor& window, const Function& function) const {
    const std::int64_t start = lines_[0].start(place[0]);
    ring.each({start + parts[0].begin, start + parts[0].end},
              [&](RowRange rows, at::Tensor in_ring) {
                at::Tensor in_window = rows_of(window, 1, rows.begin - start, rows.end - start);
                for (std::size_t d = 1; d < lines_.size(); ++d) {
                  const auto dimension = static_cast<std::int64_t>(d) + 1;
                  const std::int64_t at = lines_[d].start(place[d]);
                  in_ring = rows_of(in_ring, dimension, at + parts[d].begin, at + parts[d].end);
                  in_window = rows_of(in_window, dimension, parts[d].begin, parts[d].end);
                }
                function(in_ring, in_window);
              });
  }

  void add(std::int64_t first, std::int64_t end) {
    const at::Tensor predicted = predict(first, end);
    for (std::int64_t w = first; w < end; ++w) {
      const Sizes place = windows_.place_of(w);
      const at::Tensor weighted = predicted[w - first].mul(weights_);
      each_overlap(sums_, place, inside(place, rows_), weighted,
                   [](const at::Tensor& sum, const at::Tensor& value) { sum.add_(value); });
    }
  }

  // Returns the predictions [batch, results, window…], f32 or f64, on options_.slabs_on.
  at::Tensor predict(std::int64_t first, std::int64_t end) {
    const at::Tensor& memory = input_.memory();
    Sizes sizes{windows_.batch(), memory.size(0)};
    sizes.insert(sizes.end(), options_.window.begin(), options_.window.end());
    const at::Tensor batch = at::full(sizes, options_.fill, memory.options());
    for (std::int64_t w = first; w < end; ++w) {
      const Sizes place = windows_.place_of(w);
      each_overlap(input_, place, inside(place, windows_.all()), batch[w - first],
                   [](const at::Tensor& from, const at::Tensor& to) { to.copy_(from); });
    }
    const at::Tensor result = predict_(batch.to(options_.device));
    sizes[1] = result.dim() > 1 ? result.size(1) : 1;
    if (sums_.is_made()) sizes[1] = sums_.memory().size(0);
    if (result.sizes() != at::IntArrayRef(sizes) || !result.is_floating_point())
      throw Error(cat("the model must return ", shape_text(sizes), " floating values for these ",
                      "windows, but returned ", shape_text(result.sizes()), " of ",
                      result.scalar_type()));
    const auto type = result.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    if (!sums_.is_made())
      sums_ = RowRing(sizes[1], windows_.slab_rows(), rest_,
                      at::TensorOptions().dtype(type).device(options_.slabs_on));
    return result.to(options_.slabs_on, type);
  }

  // Writes the rows before `end`. All windows over them must have been added.
  void write_until(std::int64_t end) {
    end = std::min(end, rows_.end);
    if (!sums_.is_made() || end <= written_until_) return;
    sums_.each({written_until_, end}, [&](RowRange rows, const at::Tensor& sum) {
      const at::Tensor totals =
          at::tensor(at::ArrayRef<double>(lines_[0].totals)
                         .slice(static_cast<std::size_t>(rows.begin),
                                static_cast<std::size_t>(rows.end - rows.begin)),
                     at::kDouble);
      Sizes column(lines_.size(), 1);
      column[0] = -1;
      const at::Tensor weight =
          totals.to(options_.slabs_on).view(column).mul(rest_totals_).to(sum.scalar_type());
      write_(rows, sum.div(weight));
      sum.zero_();
    });
    written_until_ = end;
  }

  const SlidingWindows& windows_;
  const WindowOptions& options_;
  const std::vector<WindowLine>& lines_;
  RowRange rows_;
  const SlidingWindows::Read& read_;
  const SlidingWindows::Predict& predict_;
  const SlidingWindows::Write& write_;
  Sizes rest_;  // sizes of the input's other dimensions
  at::Tensor weights_, rest_totals_;
  RowRing input_, sums_;
  std::int64_t read_until_, written_until_;
};

SlidingWindows::SlidingWindows(WindowOptions options) : options_(std::move(options)) {
  check_options(options_);
  for (std::size_t d = 0; d < options_.input.size(); ++d) {
    const std::int64_t window = options_.window[d];
    const auto shared = static_cast<std::int64_t>(static_cast<double>(window) * options_.overlap);
    lines_.push_back(lay_windows(options_.input[d], window,
                                 std::max<std::int64_t>(1, window - shared), options_.weights));
  }
  batch_ = std::min(options_.batch, count());
}

std::int64_t SlidingWindows::per_layer() const {
  std::int64_t windows = 1;
  for (std::size_t d = 1; d < lines_.size(); ++d) windows *= lines_[d].count();
  return windows;
}

std::int64_t SlidingWindows::count() const { return lines_[0].count() * per_layer(); }

std::int64_t SlidingWindows::count(RowRange rows) const {
  if (rows.begin >= rows.end) return 0;
  const RowRange layers = layers_of(rows);
  return (layers.end - layers.begin) * per_layer();
}

RowRange SlidingWindows::layers_of(RowRange rows) const {
  RowRange layers{0, lines_[0].count()};
  while (lines_[0].end(layers.begin) <= rows.begin) ++layers.begin;
  while (lines_[0].start(layers.end - 1) >= rows.end) --layers.end;
  return layers;
}

std::int64_t SlidingWindows::slab_rows() const {
  const std::int64_t layers = lines_[0].count();
  const std::int64_t reach = std::min(layers, 1 + (batch_ - 1 + per_layer() - 1) / per_layer());
  std::int64_t rows = 0;
  for (std::int64_t first = 0; first + reach <= layers; ++first)
    rows = std::max(rows, lines_[0].end(first + reach - 1) - lines_[0].start(first));
  return std::min(rows, options_.input[0]);
}

std::vector<std::int64_t> SlidingWindows::place_of(std::int64_t window) const {
  Sizes place(lines_.size());
  for (std::size_t d = lines_.size(); d-- > 0;) {
    place[d] = window % lines_[d].count();
    window /= lines_[d].count();
  }
  return place;
}

RowRange SlidingWindows::part(std::int64_t part, std::int64_t parts) const {
  LOCKSTEP_CHECK(part >= 0 && part < parts);
  const std::int64_t layers = lines_[0].count();
  const auto begin_of = [&](std::int64_t p) {
    const std::int64_t layer = layers * p / parts;
    if (layer == 0) return std::int64_t{0};
    return layer == layers ? options_.input[0] : lines_[0].start(layer);
  };
  return {begin_of(part), begin_of(part + 1)};
}

std::int64_t SlidingWindows::slab_bytes(std::int64_t channels, std::int64_t channel_bytes,
                                        std::int64_t results) const {
  std::int64_t row = 1;
  for (std::size_t d = 1; d < options_.input.size(); ++d) row *= options_.input[d];
  return slab_rows() * row * (channels * channel_bytes + results * std::int64_t{sizeof(float)});
}

void SlidingWindows::run(RowRange rows, const Read& read, const Predict& predict,
                         const Write& write) const {
  if (rows.begin < 0 || rows.end > options_.input[0])
    throw Error(cat("rows ", rows.begin, " to ", rows.end, " are not among the input's ",
                    options_.input[0]));
  if (rows.begin >= rows.end) return;
  const at::NoGradGuard no_grad;
  WindowSweep(*this, rows, read, predict, write).run();
}

}  // namespace lockstep
