// Sliding windows against the same over a whole array.
#include "training/evaluation/sliding_windows.h"

#include "fakes/error_of.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lockstep {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Case {
  Sizes input, window;
  double overlap;
  WindowWeights weights;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto weights :
       {WindowWeights::uniform, WindowWeights::linear, WindowWeights::gaussian})
    for (const auto& [input, window, overlap] : {std::tuple<Sizes, Sizes, double>{{50}, {8}, 0.5},
                                                 {{50}, {7}, 0.9},
                                                 {{3}, {8}, 0.5},
                                                 {{8}, {8}, 0},
                                                 {{23, 17}, {8, 5}, 0.25},
                                                 {{4, 17}, {7, 5}, 0.5},
                                                 {{11, 13, 9}, {4, 6, 5}, 0.5},
                                                 {{5, 6, 7, 8}, {3, 4, 9, 4}, 0.4}})
      all.push_back({input, window, overlap, weights});
  return all;
}

WindowOptions options_of(const Case& test, std::int64_t batch = 1) {
  return {.input = test.input,
          .window = test.window,
          .overlap = test.overlap,
          .weights = test.weights,
          .batch = batch,
          .fill = 0.5};
}

at::Tensor input_of(const Case& test, std::int64_t channels = 2) {
  Sizes sizes{channels};
  sizes.insert(sizes.end(), test.input.begin(), test.input.end());
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return at::linspace(-1, 1, count).mul(7).sin().view(sizes);
}

// Linear in the input, and different at each place of the window, as a real model is near its
// window's edge: 3 results of 2 channels.
at::Tensor linear_model(const at::Tensor& windows) {
  at::Tensor place = at::linspace(0.5, 1.5, windows[0][0].numel()).view(windows[0][0].sizes());
  const at::Tensor a = windows.select(1, 0), b = windows.select(1, 1);
  return at::stack({a * place, a + b * place, b - 0.25 * a}, 1);
}

std::vector<Sizes> every_place(const std::vector<Sizes>& along) {
  std::vector<Sizes> all{{}};
  for (const Sizes& starts : along) {
    std::vector<Sizes> longer;
    for (const Sizes& before : all)
      for (const std::int64_t start : starts) {
        longer.push_back(before);
        longer.back().push_back(start);
      }
    all = longer;
  }
  return all;
}

double weight_of(WindowWeights weights, std::int64_t i, std::int64_t n, std::int64_t shared) {
  const auto x = static_cast<double>(i), size = static_cast<double>(n);
  if (weights == WindowWeights::gaussian)
    return std::max(1e-3, std::exp(-0.5 * std::pow((x - (size - 1) / 2) / (size / 8), 2)));
  if (weights == WindowWeights::linear)
    return std::min(1.0, (std::min(x, size - 1 - x) + 1) / static_cast<double>(shared + 1));
  return 1;
}

// By the definition: the whole input padded, all windows, all sums, in f64.
at::Tensor naive(const Case& test, const at::Tensor& input, double fill) {
  const std::size_t dimensions = test.input.size();
  std::vector<std::int64_t> pad, before(dimensions), padded(dimensions);
  for (std::size_t d = dimensions; d-- > 0;) {
    const std::int64_t missing = std::max<std::int64_t>(0, test.window[d] - test.input[d]);
    before[d] = missing / 2;
    pad.push_back(before[d]);
    pad.push_back(missing - before[d]);
    padded[d] = test.input[d] + missing;
  }
  const at::Tensor whole = at::constant_pad_nd(input.to(at::kDouble), pad, fill);
  at::Tensor weight = at::full({}, 1.0, at::kDouble);
  std::vector<Sizes> starts(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    const std::int64_t n = test.window[d];
    const auto shared = static_cast<std::int64_t>(static_cast<double>(n) * test.overlap);
    std::vector<double> line;
    for (std::int64_t i = 0; i < n; ++i) line.push_back(weight_of(test.weights, i, n, shared));
    weight = weight.unsqueeze(-1) * at::tensor(line, at::kDouble);
    for (std::int64_t at = 0; at + n < padded[d]; at += n - shared) starts[d].push_back(at);
    starts[d].push_back(padded[d] - n);
  }
  Sizes result_sizes{3};
  result_sizes.insert(result_sizes.end(), padded.begin(), padded.end());
  at::Tensor sums = at::zeros(result_sizes, at::kDouble);
  at::Tensor totals = at::zeros(padded, at::kDouble);
  for (const Sizes& place : every_place(starts)) {
    const auto cut = [&](at::Tensor tensor, std::int64_t first) {
      for (std::size_t d = 0; d < dimensions; ++d)
        tensor = tensor.narrow(first + static_cast<std::int64_t>(d), place[d], test.window[d]);
      return tensor;
    };
    cut(sums, 1).add_(linear_model(cut(whole, 1).unsqueeze(0).to(at::kFloat))[0].to(at::kDouble) *
                      weight);
    cut(totals, 0).add_(weight);
  }
  at::Tensor mean = sums / totals;
  for (std::size_t d = 0; d < dimensions; ++d)
    mean = mean.narrow(static_cast<std::int64_t>(d) + 1, before[d], test.input[d]);
  return mean;
}

struct Swept {
  at::Tensor result;  // the pieces one behind the other
  std::vector<std::int64_t> batches;
  std::int64_t rows_read = 0;
};

template <class Model>
Swept run_rows(const SlidingWindows& windows, RowRange rows, const at::Tensor& input,
               const Model& model) {
  Swept run;
  std::vector<at::Tensor> pieces;
  std::int64_t read_until = -1, written_until = rows.begin;
  windows.run(
      rows,
      [&](RowRange wanted) {
        EXPECT_TRUE(read_until == -1 || wanted.begin == read_until);
        read_until = wanted.end;
        run.rows_read += wanted.end - wanted.begin;
        return input.narrow(1, wanted.begin, wanted.end - wanted.begin);
      },
      [&](const at::Tensor& batch) {
        EXPECT_FALSE(at::GradMode::is_enabled());
        run.batches.push_back(batch.size(0));
        return model(batch);
      },
      [&](RowRange written, const at::Tensor& values) {
        EXPECT_EQ(written.begin, written_until);
        EXPECT_EQ(values.size(1), written.end - written.begin);
        written_until = written.end;
        pieces.push_back(values);
      });
  EXPECT_EQ(written_until, std::max(rows.begin, rows.end));
  if (!pieces.empty()) run.result = at::cat(pieces, 1);
  return run;
}

std::string name_of(const Case& test) {
  std::string name = "input";
  for (const std::int64_t size : test.input) name += " " + std::to_string(size);
  return name + " overlap " + std::to_string(test.overlap) + " weights " +
         std::to_string(static_cast<int>(test.weights));
}

TEST(SlidingWindows, GiveBackTheInputOfAModelThatChangesNothing) {
  for (const Case& test : cases()) {
    const at::Tensor input = input_of(test);
    const SlidingWindows windows(options_of(test, 3));
    const Swept run =
        run_rows(windows, windows.all(), input, [](const at::Tensor& x) { return x; });
    EXPECT_TRUE(at::allclose(run.result, input, 1e-5, 1e-6)) << name_of(test);
  }
}

TEST(SlidingWindows, AreTheWeightedMeanOfAllWindowsOverAnElement) {
  for (const Case& test : cases()) {
    const at::Tensor input = input_of(test);
    const SlidingWindows windows(options_of(test, 2));
    const Swept run = run_rows(windows, windows.all(), input, linear_model);
    EXPECT_TRUE(at::allclose(run.result.to(at::kDouble), naive(test, input, 0.5), 1e-5, 1e-6))
        << name_of(test);
    EXPECT_EQ(run.rows_read, test.input[0]) << "each row once";
  }
}

TEST(SlidingWindows, AreTheSameToTheBitForAnyBatchAndAnyParts) {
  for (const Case& test : cases()) {
    const at::Tensor input = input_of(test);
    const SlidingWindows one(options_of(test));
    const at::Tensor whole = run_rows(one, one.all(), input, linear_model).result;
    for (const std::int64_t batch : {2, 3, 7, 1000})
      for (const std::int64_t parts : {1, 2, 3, 8}) {
        const SlidingWindows windows(options_of(test, batch));
        std::vector<at::Tensor> pieces;
        std::int64_t until = 0;
        for (std::int64_t part = 0; part < parts; ++part) {
          const RowRange rows = windows.part(part, parts);
          EXPECT_EQ(rows.begin, until);
          until = rows.end;
          const Swept run = run_rows(windows, rows, input, linear_model);
          EXPECT_EQ(std::ssize(run.batches),
                    (windows.count(rows) + windows.batch() - 1) / windows.batch());
          if (run.result.defined()) pieces.push_back(run.result);
          for (const std::int64_t size : run.batches) EXPECT_EQ(size, windows.batch());
        }
        EXPECT_EQ(until, test.input[0]);
        EXPECT_TRUE(at::cat(pieces, 1).equal(whole)) << name_of(test) << " batch " << batch;
      }
  }
}

TEST(SlidingWindows, KeepOnlyTheSlabsThatTheySay) {
  const SlidingWindows windows({.input = {10000, 20}, .window = {16, 20}, .batch = 4});
  // Four layers of windows, eight rows apart.
  EXPECT_EQ(windows.slab_bytes(3, 1, 2), (16 + 3 * 8) * 20 * (3 * 1 + 2 * 4));
  std::int64_t read_until = 0, most = 0;
  windows.run(
      [&](RowRange rows) {
        read_until = rows.end;
        return at::zeros({3, rows.end - rows.begin, 20}, at::kByte);
      },
      [](const at::Tensor& x) { return x.narrow(1, 0, 2).to(at::kFloat); },
      [&](RowRange rows, const at::Tensor&) { most = std::max(most, read_until - rows.begin); });
  EXPECT_LE(most, 2 * (16 + 3 * 8));
}

TEST(SlidingWindows, TakeTheTypeOfTheInputAndAddUpInF32) {
  const SlidingWindows windows({.input = {40}, .window = {8}, .batch = 2});
  windows.run(
      [](RowRange rows) { return at::arange(rows.begin, rows.end, at::kByte).unsqueeze(0); },
      [](const at::Tensor& x) {
        EXPECT_EQ(x.scalar_type(), at::kByte);
        return x.to(at::kBFloat16);
      },
      [](RowRange rows, const at::Tensor& values) {
        EXPECT_EQ(values.scalar_type(), at::kFloat);
        EXPECT_TRUE(at::allclose(
            values[0], at::arange(rows.begin, rows.end, at::kByte).to(at::kFloat), 1e-6, 1e-6));
      });
}

TEST(SlidingWindows, RefuseOptionsThatCannotBeByName) {
  const auto error = [](WindowOptions options) {
    return error_of([&] { SlidingWindows windows(options); });
  };
  EXPECT_NE(error({.input = {}, .window = {}}).find("1 to 4 dimensions"), std::string::npos);
  EXPECT_NE(error({.input = {1, 1, 1, 1, 1}, .window = {1, 1, 1, 1, 1}}).find("but got 5"),
            std::string::npos);
  EXPECT_NE(error({.input = {8, 8}, .window = {4}}).find("[4] must have as many dimensions"),
            std::string::npos);
  EXPECT_NE(error({.input = {8, 0}, .window = {4, 4}}).find("[8, 0]"), std::string::npos);
  EXPECT_NE(error({.input = {8}, .window = {-4}}).find("the window of sliding"), std::string::npos);
  EXPECT_NE(error({.input = {8}, .window = {4}, .overlap = 1}).find("below 1, but is 1"),
            std::string::npos);
  EXPECT_NE(error({.input = {8}, .window = {4}, .overlap = NAN}).find("overlap"),
            std::string::npos);
  EXPECT_NE(error({.input = {8}, .window = {4}, .batch = 0}).find("batch"), std::string::npos);
}

TEST(SlidingWindows, NameRowsAndResultsOfAnotherShape) {
  const SlidingWindows windows({.input = {20, 6}, .window = {8, 6}, .batch = 2});
  const auto same = [](const at::Tensor& x) { return x; };
  const auto nothing = [](RowRange, const at::Tensor&) {};
  const auto rows = [](RowRange range) { return at::zeros({1, range.end - range.begin, 6}); };
  const std::string few = error_of([&] {
    windows.run([](RowRange) { return at::zeros({1, 3, 6}); }, same, nothing);
  });
  EXPECT_NE(few.find("rows 0 to 12 of the input must come as [1, 12, 6]"), few.npos) << few;
  EXPECT_NE(few.find("[1, 3, 6]"), few.npos) << few;
  const std::string channels = error_of([&] {
    windows.run(
        [](RowRange r) {
          return at::zeros({r.begin == 0 ? 1 : 2, r.end - r.begin, 6});
        },
        same, nothing);
  });
  EXPECT_NE(channels.find("must come as [1, 8, 6]"), channels.npos) << channels;
  const std::string type = error_of([&] {
    windows.run([&](RowRange r) { return rows(r).to(r.begin == 0 ? at::kByte : at::kFloat); },
                [](const at::Tensor& x) { return x.to(at::kFloat); }, nothing);
  });
  EXPECT_NE(type.find("Byte"), type.npos) << type;
  const std::string result = error_of([&] {
    windows.run(
        rows, [](const at::Tensor& x) { return x.narrow(3, 0, 2); }, nothing);
  });
  EXPECT_NE(result.find("[2, 1, 8, 6]"), result.npos) << result;
  EXPECT_NE(result.find("[2, 1, 8, 2]"), result.npos) << result;
  EXPECT_NE(error_of([&] {
              windows.run({5, 21}, rows, same, nothing);
            }).find("5 to 21"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
