// What follows from the options alone.
#include "recipes/dimabsa/options/dimabsa_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "planning/memory/memory.h"

namespace lockstep::dimabsa {
namespace {

std::string fault_of(const std::function<void(DimabsaOptions&)>& change) {
  DimabsaOptions options;
  change(options);
  try {
    options.check(TrainOptions());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(DimabsaOptionsTest, RefuseWhatCannotBe) {
  EXPECT_EQ(fault_of([](DimabsaOptions&) {}), "");
  EXPECT_THAT(fault_of([](DimabsaOptions& o) { o.model.heads = 3; }),
              ::testing::HasSubstr("does not divide"));
  EXPECT_THAT(fault_of([](DimabsaOptions& o) { o.data.categories = "list.txt"; }),
              ::testing::HasSubstr("of task 3"));
  EXPECT_THAT(fault_of([](DimabsaOptions& o) { o.data.valid_path = "dev.jsonl"; }),
              ::testing::HasSubstr("without data.path"));
  EXPECT_THAT(fault_of([](DimabsaOptions& o) { o.predict.language = "../x"; }),
              ::testing::HasSubstr("predict.language is a part of a file's name, but is ../x"));
  EXPECT_THAT(fault_of([](DimabsaOptions& o) { o.predict.submission = "a/b.zip"; }),
              ::testing::HasSubstr("name of a zip file"));
}

TEST(DimabsaOptionsTest, NameTheFileOfPredictionsAsTheDataDoes) {
  DimabsaOptions options;
  options.table.set("data.path", "/data/zho_laptop_train_task3.jsonl");
  options.task_number = 3;
  EXPECT_EQ(options.prediction_file(""), "subtask_3/pred_zho_laptop.jsonl");
  // A run's own, then what is asked for.
  options.table.set("data.domain", "hotel", {.kind = ValueSource::Kind::record});
  EXPECT_EQ(options.prediction_file(""), "subtask_3/pred_zho_laptop.jsonl");
  options.table.set("data.domain", "hotel", {.kind = ValueSource::Kind::argument});
  EXPECT_EQ(options.prediction_file(""), "subtask_3/pred_zho_hotel.jsonl");
  options.data.path = "/data/mine.jsonl";
  EXPECT_EQ(options.prediction_file(""), "subtask_3/pred.jsonl");
  options.predict.submission = "submission.zip";
  EXPECT_THAT(options.predict_input().joint_outputs,
              ::testing::ElementsAre("subtask_3/pred.jsonl", "submission.zip"));
}

TEST(DimabsaOptionsTest, NameAFileOfPredictionsForEachLanguageAndDomainOfTheInputs) {
  DimabsaOptions options;
  options.table.set("data.path", "/data/eng_hotel_train_task3.jsonl",
                    {.kind = ValueSource::Kind::record});
  options.task_number = 3;
  options.item_options.input = {"more.txt", "in/zho_laptop_test_task3.jsonl",
                                "in/zho_laptop_dev_task3.jsonl", "-"};
  EXPECT_THAT(
      options.prediction_files(),
      ::testing::ElementsAre("subtask_3/pred_eng_hotel.jsonl", "subtask_3/pred_zho_laptop.jsonl"));
  options.predict.submission = "submission.zip";
  EXPECT_EQ(options.predict_input().joint_outputs.size(), 3U);
  options.table.set("data.language", "eng", {.kind = ValueSource::Kind::argument});
  options.table.set("data.domain", "hotel", {.kind = ValueSource::Kind::argument});
  EXPECT_THAT(options.prediction_files(), ::testing::ElementsAre("subtask_3/pred_eng_hotel.jsonl"));
  // What concerns predictions alone may change when a run is read.
  options.table.set("predict.language", "jpn", {.kind = ValueSource::Kind::argument});
  EXPECT_THAT(options.prediction_files(), ::testing::ElementsAre("subtask_3/pred_jpn_hotel.jsonl"));
  options.table.set("predict.domain", "laptop", {.kind = ValueSource::Kind::argument});
  EXPECT_THAT(options.prediction_files(),
              ::testing::ElementsAre("subtask_3/pred_jpn_laptop.jsonl"));
}

// BERT-base over 6 passes of 8 sentences in fp16 leaves a T4 of 15 GB half empty.
TEST(DimabsaOptionsTest, PlanForABertOnAT4) {
  DimabsaOptions options;
  options.model.width = 768;
  options.model.heads = 12;
  options.model.layers = 12;
  options.model.vocabulary = 105879;
  TrainOptions train;
  train.precision = Precision::fp16;
  Facts facts;
  facts.parameters =
      parameter_count(options.small_shape(105879, 512)) + head_parameters(Task::triplets, 768, 0);
  const MemoryEstimate memory = options.memory(train, facts);
  const double on_one_of_two = needed_bytes(memory, 24);
  EXPECT_LT(on_one_of_two, 12e9);
  EXPECT_GT(on_one_of_two, 2e9);
  train.precision = Precision::fp32;
  EXPECT_GT(needed_bytes(options.memory(train, facts), 24), on_one_of_two);
  EXPECT_GT(options.flops_per_sample(facts).value_or(0), 6.0 * 85e6 * 250);
}

}  // namespace
}  // namespace lockstep::dimabsa
