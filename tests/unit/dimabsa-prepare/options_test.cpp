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

TEST(DimabsaOptionsTest, SayWhatIsBuiltIn) {
  DimabsaOptions options;
  EXPECT_EQ(options.built_in().value().options, "data.path=FILE model.path=FOLDER");
  options.data.path = "train.jsonl";
  EXPECT_EQ(options.built_in().value().options, "model.path=FOLDER");
  options.model.path = "bert";
  EXPECT_FALSE(options.built_in());
  options.data.path = "";
  EXPECT_EQ(options.built_in().value().what, "synthetic sentences");
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
  EXPECT_LT(needed_bytes(memory, 24, memory.blocks), on_one_of_two) << "all blocks computed again";
  train.precision = Precision::fp32;
  EXPECT_GT(needed_bytes(options.memory(train, facts), 24), on_one_of_two);
  EXPECT_GT(options.flops_per_sample(facts).value_or(0), 6.0 * 85e6 * 250);
}

class DebertaFormulas : public ::testing::Test {
 protected:
  ~DebertaFormulas() override { DimabsaOptions::preparer = usual_; }
  // Of prepared sentences with one tuple each. sentence, longest: tokens of the 7 texts of each
  // sentence, and of the longest text. most_texts: of the largest sentence.
  static void prepare(std::int64_t width, std::int64_t layers, std::int64_t heads,
                      std::int64_t sentence, std::int64_t longest, DimabsaOptions& options,
                      std::int64_t most_texts = 7) {
    options.task_number = 3;
    extra_ = {{"config",
               {{"model_type", "deberta-v2"},
                {"hidden_size", width},
                {"intermediate_size", width == 32 ? 64 : 4 * width},
                {"max_position_embeddings", 512},
                {"relative_attention", true},
                {"position_buckets", 256},
                {"norm_rel_ebd", "layer_norm"},
                {"share_att_key", true},
                {"pos_att_type", "p2c|c2p"},
                {"position_biased_input", false},
                {"num_attention_heads", heads},
                {"num_hidden_layers", layers},
                {"type_vocab_size", 0},
                {"vocab_size", 3000}}},
              {"tokens",
               {{"per_row", static_cast<double>(sentence) / 7},
                {"per_sentence", sentence},
                {"most", sentence * most_texts / 7},
                {"squares", sentence * sentence / 7},
                {"texts_per_row", 1},
                {"most_texts", most_texts},
                {"longest", longest}}}};
    DimabsaOptions::preparer.prepare = [](DimabsaOptions&, const PrepareContext&) {
      Prepared prepared;
      prepared.extra = extra_;
      return prepared;
    };
    options.prepare({});
  }

 private:
  static inline nlohmann::json extra_;
  const Preparer<DimabsaOptions> usual_ = DimabsaOptions::preparer;
};

// The peaks of runs on the CPU, in MiB. Attention of DeBERTa pads texts and keeps products with
// every row of its table of distances, so BERT's formula gives a third of some of them.
TEST_F(DebertaFormulas, NeedTheMemoryThatRunsTook) {
  struct Case {
    std::int64_t width, layers, heads, sentence, longest, rows;
    double mib, recomputed_mib = 0;  // 0: not measured
  };
  constexpr double mib = 1024 * 1024;
  TrainOptions train, again;
  train.precision = again.precision = Precision::fp32;
  again.memory.recompute = Recompute::blocks;
  for (const Case& c :
       {Case{32, 2, 4, 208, 38, 56, 332}, Case{32, 2, 4, 453, 73, 56, 595},
        Case{32, 2, 4, 453, 73, 224, 1462, 1023}, Case{32, 2, 4, 873, 133, 56, 1005},
        Case{384, 4, 6, 208, 38, 28, 892}, Case{384, 4, 6, 453, 73, 14, 813, 555}}) {
    DimabsaOptions options;
    prepare(c.width, c.layers, c.heads, c.sentence, c.longest, options);
    const double bytes = needed_bytes(options.memory(train, {}), c.rows);
    EXPECT_NEAR(bytes / mib / c.mib, 1, 0.2) << c.mib;
    if (c.recomputed_mib == 0) continue;
    const double recomputed = needed_bytes(options.memory(again, {}), c.rows, c.layers);
    EXPECT_NEAR(recomputed / mib / c.recomputed_mib, 1, 0.2) << c.recomputed_mib;
  }
}

// A sentence of 10 tuples in DeBERTa-v3-large on a T4. A model that is fixed and too large is
// refused; a row of this sentence fits.
TEST_F(DebertaFormulas, CountTheLargestSentenceOnlyAsFarAsAMicroBatchHoldsIt) {
  TrainOptions train;
  train.precision = Precision::fp16;
  DimabsaOptions alike, options;
  Facts facts;
  facts.parameters = 435'000'000;
  prepare(1024, 24, 16, 420, 110, alike);
  const MemoryEstimate usual = alike.memory(train, facts);
  prepare(1024, 24, 16, 420, 110, options, 52);
  const MemoryEstimate memory = options.memory(train, facts);
  EXPECT_DOUBLE_EQ(memory.fixed_bytes, usual.fixed_bytes);
  EXPECT_GT(needed_bytes(memory, 7), needed_bytes(usual, 7) + 5e9);
  EXPECT_LT(needed_bytes(memory, 1), 14e9);
  EXPECT_LT(needed_bytes(memory, 7, memory.blocks), 14e9) << "all blocks computed again";
}

TEST_F(DebertaFormulas, CountAnEvaluationInPlaceOfActivations) {
  TrainOptions train;
  train.precision = Precision::fp16;
  DimabsaOptions bert, options;
  prepare(768, 12, 12, 420, 256, options);
  const MemoryEstimate memory = options.memory(train, {});
  EXPECT_GT(memory.evaluation_bytes, 1e9);
  EXPECT_DOUBLE_EQ(needed_bytes(memory, 1), memory.fixed_bytes + memory.evaluation_bytes);
  EXPECT_GT(needed_bytes(memory, 56), memory.fixed_bytes + memory.evaluation_bytes);
  EXPECT_EQ(bert.memory(train, {}).evaluation_bytes, 0);
}

// 32 x 2 layers: weights 4 W² + 2 W F of a layer, pairs of tokens and pairs with 512 rows.
TEST_F(DebertaFormulas, CountProductsWithTheTableOfDistances) {
  DimabsaOptions options;
  prepare(32, 2, 4, 210, 30, options);
  Facts facts;
  facts.parameters = (3000 + 512) * 32 + 1000;
  EXPECT_DOUBLE_EQ(options.flops_per_sample(facts).value(),
                   6.0 * (1000 * 210 + 2 * 32 * 2 * (210 * 210 / 7 + 210 * 512)));
}

}  // namespace
}  // namespace lockstep::dimabsa
