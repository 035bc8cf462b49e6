// Rows of different length: padded, or one behind the other, with padding rows, on the host alone.
#include "training/data/collate.h"

#include "core/base/error.h"
#include "training/data/loader.h"

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <string>

namespace lockstep {
namespace {

std::vector<std::int64_t> numbers(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous().view({-1});
  const auto* first = flat.const_data_ptr<std::int64_t>();
  return {first, first + flat.numel()};
}

// What an action is refused with; "" where it is not.
template <class Action>
std::string said_by(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

at::Tensor row(std::int64_t length, std::int64_t from) { return at::arange(from, from + length); }

TEST(Pad, FillsToTheLongestOrTheNextLength) {
  const std::vector<at::Tensor> rows{row(1, 10), row(3, 20)};
  EXPECT_EQ(numbers(pad(rows, -1)), (std::vector<std::int64_t>{10, -1, -1, 20, 21, 22}));
  EXPECT_EQ(pad(rows, 0, {2, 4, 8}).sizes(), (at::IntArrayRef{2, 4}));
  EXPECT_EQ(pad(rows, 0, {3}).sizes(), (at::IntArrayRef{2, 3}));
  EXPECT_EQ(pad({at::zeros({2, 5}), at::zeros({4, 5})}).sizes(), (at::IntArrayRef{2, 4, 5}));
  EXPECT_EQ(pad({at::zeros({0, 4})}).sizes(), (at::IntArrayRef{1, 0, 4}));
  EXPECT_EQ(numbers(lengths_of(rows)), (std::vector<std::int64_t>{1, 3}));
}

TEST(Pad, RefusesWhatDoesNotFit) {
  EXPECT_EQ(said_by([] {
              pad({row(9, 0)}, 0, {4, 8});
            }),
            "a row is 9 long, but rows are padded to at most 8");
  EXPECT_NE(said_by([] { pad({at::zeros({2, 5}), at::zeros({2, 4})}); }), "");
  EXPECT_NE(said_by([] { ragged({row(2, 0), at::zeros({2})}); }), "");
}

TEST(Ragged, HoldsRowsOneBehindTheOther) {
  const Ragged made = ragged({row(2, 10), row(0, 0), row(3, 20)});
  EXPECT_EQ(numbers(made.values), (std::vector<std::int64_t>{10, 11, 20, 21, 22}));
  EXPECT_EQ(numbers(made.offsets), (std::vector<std::int64_t>{0, 2, 2, 5}));
  EXPECT_EQ(numbers(row_of_values(made.offsets, 5)), (std::vector<std::int64_t>{0, 0, 2, 2, 2}));
}

// Sample i: i values, and on the host its name's number. Collated as ragged, or written at once.
class Lines : public Dataset {
 public:
  std::int64_t size() const override { return 7; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext&) const override {
    ++gets;
    return {row(index, 100 * index), at::full({}, index, at::kLong)};
  }
  std::vector<at::Tensor> collate(const std::vector<std::vector<at::Tensor>>& rows) const override {
    const Ragged lines = ragged(column(rows, 0));
    at::Tensor names = at::zeros({std::ssize(rows)}, at::kLong);
    for (std::size_t i = 0; i < rows.size(); ++i) names[static_cast<std::int64_t>(i)] = rows[i][1];
    return {lines.values, lines.offsets, names};
  }
  std::vector<FieldPlace> fields() const override {
    return {FieldPlace::device, FieldPlace::device, FieldPlace::host};
  }
  mutable int gets = 0;
};

class LinesAtOnce : public BatchDataset {
 public:
  std::int64_t size() const override { return 7; }
  std::vector<at::Tensor> get(std::int64_t, SampleContext&) const override { return {}; }
  std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                std::vector<SampleContext>& contexts) const override {
    EXPECT_EQ(samples.size(), contexts.size());
    std::vector<std::vector<at::Tensor>> rows;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      rows.push_back(lines_.get(samples[i], contexts[i]));
      padding += contexts[i].padding ? 1 : 0;
    }
    return lines_.collate(rows);
  }
  std::vector<FieldPlace> fields() const override { return lines_.fields(); }
  mutable int padding = 0;

 private:
  Lines lines_;
};

// As evaluation loads: samples 4 to 6 in batches of 2, the last with a row of padding.
Batch last_of_an_evaluation(const std::shared_ptr<const Dataset>& data, int ahead) {
  LoaderOptions options{.batch = {.world_size = 1, .micro = 2, .accumulation = 1, .global = 2},
                        .last_step = 2,
                        .threads = 0,
                        .training = false};
  options.row_of = [](std::int64_t step, std::int64_t place) {
    const std::int64_t sample = 4 + step * 2 + place;
    return Row{.global_row = sample, .sample = sample < 7 ? sample : -1};
  };
  Loader loader(data, options);
  for (int i = 0; i < ahead; ++i) loader.next();
  return std::move(loader.next().batches[0]);
}

TEST(Fields, OfAnyFormAreRightInAnEvaluationsLastBatch) {
  const auto lines = std::make_shared<Lines>();
  const auto at_once = std::make_shared<LinesAtOnce>();
  for (const std::shared_ptr<const Dataset>& data :
       {std::shared_ptr<const Dataset>(lines), std::shared_ptr<const Dataset>(at_once)}) {
    const Batch last = last_of_an_evaluation(data, 1);
    ASSERT_EQ(last.tensors.size(), 2U);
    EXPECT_EQ(last.size(), 2);
    EXPECT_EQ(numbers(last.tensors[1]), (std::vector<std::int64_t>{0, 6, 12}));
    EXPECT_EQ(last.tensors[0][6].item<std::int64_t>(), 600);
    ASSERT_EQ(last.host().size(), 1U);
    EXPECT_EQ(numbers(last.host()[0]), (std::vector<std::int64_t>{6, 6}));
    EXPECT_EQ(last.samples(), (std::vector<std::int64_t>{6, -1}));
  }
  EXPECT_EQ(lines->gets, 3) << "nothing is read for padding";
  EXPECT_EQ(at_once->padding, 1);
}

TEST(Fields, ThatStayWithTheHostAreNeverPinned) {
  int pinned = 0;
  Loader loader(std::make_shared<Lines>(),
                {.batch = {.world_size = 1, .micro = 4, .accumulation = 1, .global = 4},
                 .last_step = 2,
                 .threads = 0,
                 .pin = [&](at::Tensor tensor) {
                   ++pinned;
                   return tensor;
                 }});
  loader.next();
  EXPECT_EQ(pinned, 2);
  const Batch last = std::move(loader.next().batches[0]);  // three samples and a row of padding
  EXPECT_EQ(last.tensors[1].size(0), 5);
  EXPECT_EQ(last.samples()[3], -1);
}

TEST(Fields, AreAsManyAsTheDatasetNames) {
  class Wrong : public Lines {
    std::vector<FieldPlace> fields() const override { return {FieldPlace::host}; }
  };
  EXPECT_EQ(said_by([] { last_of_an_evaluation(std::make_shared<Wrong>(), 0); }),
            "fields() of the validation data names 1 fields, but a batch has 3");
}

TEST(Fields, OfTheHostAreNotReadWhileAGraphIsCaptured) {
  Batch batch = last_of_an_evaluation(std::make_shared<Lines>(), 0);
  batch.captured = true;
  EXPECT_EQ(
      said_by([&] { batch.host(); }),
      "the loss reads Batch::host(), which a CUDA graph would repeat as it was in the captured "
      "step");
  EXPECT_THROW(batch.samples(), Error);
}

}  // namespace
}  // namespace lockstep
