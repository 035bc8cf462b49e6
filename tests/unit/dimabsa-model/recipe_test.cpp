// The recipe as the engine uses it, on sentences of made ids: no tokenizer is needed here.
#include "recipes/dimabsa/model/recipe.h"

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/model/as_sentence.h"
#include "training/contract/contract_check.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::dimabsa {
namespace {

// Letters with a space between them: a piece each, "a" being 10.
EncodedSentence sentence_of(const std::string& letters, std::vector<EncodedTuple> tuples) {
  EncodedSentence encoded;
  encoded.sentence.id = letters;
  for (const char letter : letters) {
    if (!encoded.sentence.text.empty()) encoded.sentence.text += ' ';
    encoded.ids.push_back(10 + letter - 'a');
    encoded.begins.push_back(std::ssize(encoded.sentence.text));
    encoded.sentence.text += letter;
    encoded.ends.push_back(std::ssize(encoded.sentence.text));
  }
  encoded.tuples = std::move(tuples);
  for (const EncodedTuple& tuple : encoded.tuples)
    encoded.sentence.tuples.push_back(
        {.aspect = phrase_of(encoded, tuple.aspect),
         .opinion = phrase_of(encoded, tuple.opinion),
         .category = tuple.category == 0 ? "X#Y" : "X#Z",
         .va = ValenceArousal{2.0 + 3.0 * static_cast<double>(tuple.category), 4}});
  return encoded;
}

class DimabsaRecipeTest : public ::testing::Test {
 protected:
  DimabsaRecipeTest() {
    options.model.width = 16;
    options.model.heads = 2;
    options.model.layers = 1;
    EncodedQueries queries{.tokens = {}, .null = {4}, .cls = 1, .sep = 2, .pad = 0};
    for (std::int64_t i = 0; i < 7; ++i) queries.tokens[static_cast<std::size_t>(i)] = {5 + i % 3};
    queries.tokens[2] = {5, aspect_place};
    queries.tokens[3] = {6, opinion_place};
    for (const std::size_t i : {4U, 5U, 6U})
      queries.tokens[i] = {static_cast<std::int64_t>(i + 3), aspect_place, opinion_place};
    const std::vector<EncodedSentence> sentences{
        sentence_of("abcde", {{.aspect = {0, 1}, .opinion = {3, 3}, .category = 0}}),
        sentence_of("fghij", {{.aspect = {}, .opinion = {4, 4}, .category = 1},
                              {.aspect = {1, 1}, .opinion = {4, 4}, .category = 0}}),
        sentence_of("xyz", {})};
    write_sentences(folder.path() / "train.cbor", sentences);
    write_sentences(folder.path() / "valid.cbor", sentences);
    prepared.extra = {{"config",
                       {{"model_type", "bert"},
                        {"vocab_size", 40},
                        {"hidden_size", 16},
                        {"num_hidden_layers", 1},
                        {"num_attention_heads", 2},
                        {"intermediate_size", 32},
                        {"max_position_embeddings", 64},
                        {"type_vocab_size", 2},
                        {"hidden_act", "gelu"},
                        {"layer_norm_eps", 1e-12},
                        {"hidden_dropout_prob", 0.1}}},
                      {"queries", to_json(queries)},
                      {"categories", {"X#Y", "X#Z"}},
                      {"longest_span", 2},
                      {"train", (folder.path() / "train.cbor").string()},
                      {"valid", (folder.path() / "valid.cbor").string()}};
  }

  ContractReport check() {
    DimabsaRecipe recipe(options, prepared);
    const auto model = recipe.build(1);
    ModelBuffers buffers(model->buffers(), at::kCPU);
    ProcessGroup group{World{}, cpu_backend()};
    const DatasetPair data = recipe.data();
    return check_contract({.recipe = recipe,
                           .model = *model,
                           .buffers = buffers,
                           .data = data,
                           .group = group,
                           .backend = cpu_backend(),
                           .micro = 2,
                           .eval_batch = 2,
                           .best_metric = options.metric_names().at(0)});
  }

  TemporaryDirectory folder;
  DimabsaOptions options;
  Prepared prepared;
};

TEST_F(DimabsaRecipeTest, KeepsItsContractWithTheEngine) {
  for (const std::int64_t task : {1, 2, 3}) {
    options.task_number = task;
    const ContractReport report = check();
    EXPECT_THAT(report.faults, ::testing::IsEmpty()) << task;
    EXPECT_THAT(report.warnings, ::testing::IsEmpty()) << task;
  }
}

// XLM-R has one row of segments, DeBERTa-v3 none.
TEST_F(DimabsaRecipeTest, TrainsEncodersWithoutTwoSegments) {
  for (const char* family : {"bert", "xlm-roberta", "deberta-v2"})
    for (const std::int64_t segments : {0, 1}) {
      prepared.extra["config"]["model_type"] = family;
      prepared.extra["config"]["type_vocab_size"] = segments;
      if (family == std::string_view("deberta-v2"))
        prepared.extra["config"].update({{"relative_attention", true},
                                         {"position_biased_input", false},
                                         {"pos_att_type", "c2p|p2c"},
                                         {"position_buckets", 8},
                                         {"share_att_key", true}});
      const ContractReport report = check();
      EXPECT_THAT(report.faults, ::testing::IsEmpty()) << family << segments;
    }
}

// They ask for no category, and nothing that is found can match them.
TEST_F(DimabsaRecipeTest, MissesTuplesOfACategoryThatTheRunDoesNotKnow) {
  options.task_number = 3;
  EncodedSentence known =
      sentence_of("abcde", {{.aspect = {0, 1}, .opinion = {3, 3}, .category = 0},
                            {.aspect = {4, 4}, .opinion = {3, 3}, .category = -1}});
  known.sentence.tuples[1].category = "NEW#ONE";
  known.sentence.tuples[1].va = ValenceArousal{5, 5};
  for (const char* part : {"train", "valid"})
    write_sentences(prepared.extra.at(part).get<std::string>(), {known, known});
  EXPECT_THAT(check().faults, ::testing::IsEmpty());
  DimabsaRecipe recipe(options, prepared);
  const DatasetPair data = recipe.data();
  const std::vector<FoundTuple> found{
      {.aspect = {0, 1}, .opinion = {3, 3}, .category = 0, .valence = 2, .arousal = 4},
      {.aspect = {4, 4}, .opinion = {3, 3}, .category = 1, .valence = 5, .arousal = 5}};
  const Records records(std::vector<at::Tensor>{to_record(found), to_record(found)});
  int compared = 0;
  for (const Metric& metric : recipe.metrics(records)) {
    if (metric.name != "recall" && metric.name != "precision" && metric.name != "crecall") continue;
    EXPECT_DOUBLE_EQ(metric.value, 0.5) << metric.name;
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

// Beside it stands what the mean of the training data would have reached.
TEST_F(DimabsaRecipeTest, HasABaselineOfTheRmse) {
  prepared.extra["mean_va"] = {4.0, 4.0};
  prepared.extra["evaluated"] = "test.jsonl";
  DimabsaRecipe recipe(options, prepared);
  const DatasetPair data = recipe.data();
  const std::vector<FoundTuple> right{
      {.aspect = {0, 1}, .opinion = {3, 3}, .category = 0, .valence = 2, .arousal = 4}};
  const Records records(std::vector<at::Tensor>{to_record(right), to_record({}), to_record({})});
  const auto value = [](const std::vector<Metric>& metrics, const std::string& name) {
    for (const Metric& metric : metrics)
      if (metric.name == name) return metric.value;
    return -1.0;
  };
  EXPECT_EQ(value(recipe.metrics(records), "rmse_va"), 0);
  EXPECT_EQ(value(recipe.metrics(records), "rmse_va_baseline"), 2);
  prepared.extra.erase("mean_va");  // as of an older run
  DimabsaRecipe older(options, prepared);
  const DatasetPair same = older.data();
  EXPECT_EQ(value(older.metrics(records), "rmse_va_baseline"), -1);
}

// All passes of two sentences in one batch are what each row is alone (loss_test.cpp has what that
// is).
TEST_F(DimabsaRecipeTest, LossIsTheSumOverSentencesWithTuplesAveraged) {
  options.task_number = 3;
  DimabsaRecipe recipe(options, prepared);
  const auto model = recipe.build(1);
  const DatasetPair data = recipe.data();
  const auto losses = [&](const std::vector<std::int64_t>& samples,
                          const std::vector<std::int64_t>& parts) {
    std::vector<SampleContext> contexts;
    for (const std::int64_t part : parts)
      contexts.push_back({.random = Random(1, RandomStream::augment, 0, 0), .part = part});
    Batch batch;
    batch.tensors = dynamic_cast<const BatchDataset&>(*data.train).batch(samples, contexts);
    batch.row_weight = at::ones({std::ssize(samples)});
    StepContext context;
    context.training = false;
    const at::NoGradGuard guard;
    std::vector<double> numbers;
    for (const at::Tensor& term : recipe.loss(*model, batch, context))
      numbers.push_back(term.item<double>());
    return numbers;
  };
  const std::vector<double> together = losses({0, 1, 0, 1, 0, 1}, {0, 0, 2, 2, 5, 5});
  for (const std::size_t pass : {0U, 2U, 5U}) {
    const auto part = static_cast<std::int64_t>(pass);
    EXPECT_NEAR(together[pass], losses({0}, {part})[pass] + losses({1}, {part})[pass], 1e-4);
    EXPECT_GT(together[pass], 0);
  }
  EXPECT_EQ(together[1], 0);
  // Without tuples a sentence has nothing in the passes of tuples.
  EXPECT_EQ(losses({2}, {5})[5], 0);
  EXPECT_GT(losses({2}, {0})[0], 0);
}

TEST_F(DimabsaRecipeTest, CountsItsParametersAsTheFormulaDoes) {
  for (const std::int64_t task : {1, 2, 3}) {
    options.task_number = task;
    std::int64_t count = 0;
    for (const Parameter& parameter : DimabsaRecipe(options, prepared).build(1)->parameters())
      count += parameter.tensor.numel();
    EXPECT_EQ(count, parameter_count(read_shape(prepared.extra.at("config"), "test")) +
                         head_parameters(options.task(), 16, 2));
  }
}

// Heads at optimizer.lr, a trained encoder at a hundredth, one from nothing at three times that.
TEST_F(DimabsaRecipeTest, GivesTheEncoderARateOfItsOwn) {
  const auto rate_of = [&](const char* part) {
    for (const Parameter& parameter : DimabsaRecipe(options, prepared).build(1)->parameters())
      if (parameter.name.starts_with(part)) return parameter.lr_scale;
    return -1.0;
  };
  EXPECT_EQ(rate_of("encoder."), 3);
  options.model.path = "/somewhere";
  EXPECT_EQ(rate_of("encoder."), 0.01);
  EXPECT_EQ(rate_of("heads."), 1);
  options.model.encoder_rate = 0.5;
  EXPECT_EQ(rate_of("encoder."), 0.5);
}

TEST_F(DimabsaRecipeTest, RecordsAreReadAsTheyWereWritten) {
  const std::vector<FoundTuple> found{{.aspect = {0, 1},
                                       .opinion = {},
                                       .category = 1,
                                       .valence = 7.126,
                                       .arousal = 12,
                                       .probability = 0.5}};
  const std::vector<FoundTuple> read = from_record(to_record(found).view({-1}));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].aspect, found[0].aspect);
  EXPECT_EQ(read[0].valence, 7.126);
  EXPECT_TRUE(from_record(to_record({})).empty());
}

TEST(AsSentence, WritesExactPartsClampsAndDropsDuplicates) {
  const EncodedSentence sentence = sentence_of("abcd", {});
  const Sentence written = as_sentence(
      Task::triplets, sentence,
      {{.aspect = {0, 1}, .opinion = {3, 3}, .valence = 7.126, .arousal = 12, .probability = 0.6},
       {.aspect = {}, .opinion = {2, 2}, .valence = -1, .arousal = 5, .probability = 0.9},
       {.aspect = {0, 1}, .opinion = {3, 3}, .valence = 1, .arousal = 1, .probability = 0.5}},
      {});
  ASSERT_EQ(written.tuples.size(), 2U);
  EXPECT_EQ(written.tuples[0].aspect, "NULL");
  EXPECT_EQ(written.tuples[0].va->valence, 1);
  EXPECT_EQ(written.tuples[1].aspect, "a b");
  EXPECT_EQ(written.tuples[1].opinion, "d");
  EXPECT_DOUBLE_EQ(written.tuples[1].va->valence, 7.13);
  EXPECT_DOUBLE_EQ(written.tuples[1].va->arousal, 9);
}

}  // namespace
}  // namespace lockstep::dimabsa
