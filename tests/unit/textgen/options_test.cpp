#include "planning/memory/memory.h"
#include "planning/precision.h"
#include "tests/unit/textgen/text_test.h"

namespace lockstep::textgen {
namespace {

void apply_preset(const std::string& name, TrainOptions& train, TextOptions& text) {
  OptionTable* const tables[] = {&train.table, &text.table};
  const std::string assignments[] = {"preset=" + name};
  apply_config(tables, {}, assignments);
}

std::int64_t parameters(const std::string& preset, std::int64_t vocab = 0) {
  TrainOptions train;
  TextOptions text;
  apply_preset(preset, train, text);
  return text.parameter_count(vocab);
}

TEST(Parameters, OfThePresetsAreThoseOfTheModelsTheyReproduce) {
  EXPECT_EQ(parameters("kaggle"), 19315456);
  EXPECT_EQ(parameters("kaggle-10m"), 10119680);
  EXPECT_EQ(parameters("gpt2"), 124439808 + (50304 - 50257) * 768);
  // V d + T d + layers (2 d + 12 d d) + d, worked out by hand from the peers' model.
  EXPECT_EQ(parameters("bench-textgen"), 98304 + 196608 + 6 * (768 + 1769472) + 384);
  EXPECT_EQ(parameters("bench-gpt124m"), 38633472 + 786432 + 12 * (1536 + 7077888) + 768);
  EXPECT_EQ(parameters("shakespeare", 65), 10745088);
  EXPECT_EQ(parameters("medium"), 10818432);
  EXPECT_EQ(parameters("small"), 639872);
}

TEST(Parameters, CountAnOutputMatrixThatIsNotTied) {
  TextOptions text;
  const std::int64_t tied = text.parameter_count();
  text.table.set("model.tied", "false");
  EXPECT_EQ(text.parameter_count(), tied + 256 * 128);
}

TEST(Parameters, FollowTheVocabularyUnlessItIsPadded) {
  TextOptions text;
  EXPECT_EQ(text.parameter_count(1000) - text.parameter_count(256), 744 * 128);
  text.table.set("model.vocab", "1024");
  EXPECT_EQ(text.parameter_count(1000), text.parameter_count(256));
  EXPECT_NE(error_if_any([&] { text.model_vocab(1025); }).find("at least the tokenizer's 1025"),
            std::string::npos);
}

TEST(Presets, NameOnlyOptionsThatThereAreAndPassTheChecks) {
  for (const Preset& preset : presets()) {
    TrainOptions train;
    TextOptions text;
    apply_preset(preset.name, train, text);
    if (preset.name != "kaggle" && preset.name != "gpt2") {
      EXPECT_EQ(error_if_any([&] { text.check(train); }), "") << preset.name;
    }
  }
}

TEST(Presets, OfThePeersHaveTheirSteps) {
  TrainOptions train;
  TextOptions text;
  apply_preset("bench-textgen", train, text);
  EXPECT_EQ(train.batch.micro, 16);
  EXPECT_EQ(train.batch.accumulation, 4);
  EXPECT_EQ(train.precision, Precision::bf16);
  EXPECT_TRUE(train.optimizer.decay_norms_and_biases);
  EXPECT_EQ(train.schedule.kind, "constant");
  EXPECT_EQ(text.model.gelu, Gelu::erf);
  EXPECT_TRUE(text.synthetic());
}

TEST(Defaults, AreAPresetForTheDevices) {
  for (const bool gpu : {false, true}) {
    TrainOptions train;
    TextOptions text;
    text.defaults(train, gpu);
    OptionTable* const tables[] = {&train.table, &text.table};
    apply_config(tables, {}, {});
    EXPECT_EQ(train.preset, gpu ? "medium" : "small");
    EXPECT_EQ(text.model.width, gpu ? 384 : 128);
    EXPECT_EQ(text.tokenizer.kind, TokenizerKind::bytes);
  }
}

TEST(Defaults, OfTheTableAreThoseOfThePresetSmall) {
  TrainOptions train;
  TextOptions plain, small;
  apply_preset("small", train, small);
  EXPECT_EQ(plain.table.to_json(), small.table.to_json());
}

std::string check(const Settings& settings) {
  TextOptions text;
  for (const auto& [key, value] : settings) text.table.set(key, value);
  return error_if_any([&] { text.check(TrainOptions()); });
}

TEST(Checks, NameWhatDoesNotGoTogether) {
  EXPECT_NE(check({{"model.heads", "3"}}).find("multiple of model.heads"), std::string::npos);
  EXPECT_NE(check({{"tokenizer.kind", "gpt2"}}).find("tokenizer.path is empty"), std::string::npos);
  EXPECT_NE(check({{"tokenizer.path", "x"}}).find("has no file"), std::string::npos);
  TextOptions of_export;  // which holds the tokenizer, and no place of its files
  of_export.table.set("tokenizer.kind", "gpt2", {.kind = ValueSource::Kind::record});
  EXPECT_NO_THROW(of_export.check(TrainOptions()));
  EXPECT_NE(check({{"data.path", "synthetic,a.txt"}}).find("mixes"), std::string::npos);
  EXPECT_NE(check({{"model.vocab", "100"}}).find("at least the tokenizer's 256"),
            std::string::npos);
  EXPECT_NE(check({{"data.path", "synthetic"}, {"tokenizer.kind", "chars"}}).find("model.vocab"),
            std::string::npos);
}

TEST(Flops, AreThoseOfTheMatrixProductsAndOfAttention) {
  TrainOptions train;
  TextOptions text;
  apply_preset("bench-gpt124m", train, text);
  const double block = 3 * 768 * 768 + 768 * 768 + 2 * 768 * 3072;
  const double weights = 12 * block + 50304.0 * 768;
  EXPECT_DOUBLE_EQ(*text.flops_per_sample({}), 1024 * (6 * weights + 12.0 * 12 * 768 * 1024));
}

TEST(Flops, CountTheOutputMatrixWhetherTiedOrNot) {
  TextOptions text;
  const double tied = *text.flops_per_sample({});
  text.table.set("model.tied", "false");
  EXPECT_DOUBLE_EQ(*text.flops_per_sample({}), tied);
  text.table.set("model.vocab", "512");
  EXPECT_DOUBLE_EQ(*text.flops_per_sample({}), tied + 128 * 6.0 * 256 * 128);
}

TEST(Flops, AreUnknownBeforeTheVocabularyIs) {
  TextOptions text;
  text.table.set("tokenizer.kind", "chars");
  EXPECT_FALSE(text.flops_per_sample({}));
}

TEST(Memory, GrowsWithTheModelAndShrinksInLowPrecision) {
  TrainOptions train;
  train.precision = Precision::fp32;
  TextOptions small, large;
  large.table.set("model.layers", "12");
  const MemoryEstimate a = small.memory(train, {}), b = large.memory(train, {});
  EXPECT_GT(b.fixed_bytes, a.fixed_bytes);
  EXPECT_GT(b.per_sample_bytes, a.per_sample_bytes);
  train.precision = Precision::bf16;
  EXPECT_LT(small.memory(train, {}).per_sample_bytes, a.per_sample_bytes);
  small.table.set("model.attention_dropout", "0.1");
  EXPECT_GT(small.memory(train, {}).per_sample_bytes, 0.5 * a.per_sample_bytes);
}

// What an H200 was measured to have allocated at most, in GB: bench/results/memory-h200.toml, whose
// estimates are of the formula that this one replaced.
struct MeasuredPeak {
  const char* preset;
  std::int64_t vocab, micro;
  Precision precision;
  bool recompute;
  double peak_gb;
};
const MeasuredPeak measured_peaks[] = {
    {"small", 256, 32, Precision::bf16, false, 0.203},
    {"medium", 256, 64, Precision::bf16, false, 1.62},
    {"medium", 256, 64, Precision::fp16, false, 1.62},
    {"medium", 256, 64, Precision::fp32, false, 2.848},
    {"medium", 256, 64, Precision::bf16, true, 0.761},
    {"medium", 256, 512, Precision::bf16, false, 10.635},
    {"shakespeare", 256, 64, Precision::bf16, false, 2.222},
    {"shakespeare", 256, 64, Precision::fp32, false, 4.054},
    {"kaggle-10m", 14336, 16, Precision::fp16, false, 1.12},
    {"kaggle-10m", 14336, 64, Precision::bf16, false, 3.483},
    {"kaggle-10m", 14336, 64, Precision::fp32, false, 5.613},
    {"kaggle-10m", 14336, 64, Precision::bf16, true, 1.574},
    {"kaggle", 50304, 64, Precision::bf16, false, 3.538},
    {"gpt2", 50304, 8, Precision::bf16, false, 5.814},
    {"gpt2", 50304, 60, Precision::bf16, false, 21.979},
    {"gpt2", 50304, 160, Precision::bf16, false, 52.732},
    {"gpt2", 50304, 60, Precision::bf16, true, 6.766},
    {"gpt2", 50304, 16, Precision::fp32, false, 12.746},
    {"gpt2", 50304, 32, Precision::fp32, true, 6.766},
    {"bench-gpt124m", 50304, 32, Precision::bf16, false, 13.161},
    {"bench-gpt124m", 50304, 64, Precision::bf16, false, 23.152},
    {"bench-textgen", 256, 16, Precision::bf16, false, 0.97},
};

TEST(Memory, IsNearMeasuredPeaks) {
  for (const MeasuredPeak& peak : measured_peaks) {
    TrainOptions train;
    TextOptions text;
    apply_preset(peak.preset, train, text);
    text.table.set("tokenizer.kind", "bytes");
    text.table.set("model.vocab", std::to_string(peak.vocab));
    train.precision = peak.precision;
    const MemoryEstimate memory = text.memory(train, {});
    const double estimate =
        needed_bytes(memory, peak.micro, peak.recompute ? memory.blocks : 0) / 1e9;
    EXPECT_NEAR(estimate / peak.peak_gb, 1, 0.03)
        << peak.preset << ", micro-batch " << peak.micro << ", " << precision_word(peak.precision);
  }
}

// So that predict forgets the one of a record, which may be a stranger's.
TEST(PromptFile, IsAPathUnlessItIsStandardInput) {
  TextOptions text;
  text.table.set("predict.prompt_file", "prompts.txt");
  text.table.make_paths_absolute("/there");
  EXPECT_EQ(text.predict.prompt_file, "/there/prompts.txt");
  text.table.set("predict.prompt_file", "-");
  text.table.make_paths_absolute("/there");
  EXPECT_EQ(text.predict.prompt_file, "-");
  for (const OptionInfo& option : text.table.options())
    if (option.key == "predict.prompt_file") {
      EXPECT_TRUE(option.spec.is_path);
    }
}

// Scripts of text models count steps, where the engine's name is of programs that count epochs.
TEST(TextNames, ScriptsSaveBySteps) {
  const std::vector<Synonym> all = synonyms();
  const Synonym* const synonym = find_synonym(all, "save_every");
  ASSERT_NE(synonym, nullptr);
  EXPECT_EQ(synonym->ours, "checkpoint.every_steps={value}");
}

TEST(TextOptionsBuiltIn, IsTheDataWhereNoneAreNamed) {
  TextOptions options;
  EXPECT_EQ(options.built_in().value().what, "the plays of Shakespeare that come along");
  options.data.path = {"my.txt"};
  EXPECT_FALSE(options.built_in());
}

// It is a name on a server there.
TEST(TextNames, OfADatasetSayThatNothingIsDownloaded) {
  const std::vector<Synonym> all = synonyms();
  EXPECT_NE(find_synonym(all, "dataset_name")->note.find("nothing is downloaded"),
            std::string::npos);
}

// In Transformers' generate it is the length of a text, and in its training that of a block.
TEST(TextNames, OfGenerateAreThoseOfPredict) {
  const std::vector<Synonym> all = synonyms();
  const auto in_predict = [&](const char* name, const char* value) {
    Synonym synonym = *find_synonym(all, name);
    if (const MeaningInCommand* const here = meaning_in(synonym, "predict"))
      synonym.ours = here->ours;
    const std::vector<OurWord> words = written_here(synonym, value, {});
    return words.empty() ? "" : words[0].name + "=" + words[0].value;
  };
  EXPECT_EQ(in_predict("max_length", "20"), "predict.tokens=20");
  EXPECT_EQ(find_synonym(all, "max_length")->ours, "model.context={value}");
  EXPECT_EQ(in_predict("num_return_sequences", "2"), "predict.count=2");
  EXPECT_EQ(in_predict("do_sample", "False"), "predict.temperature=0");
  EXPECT_EQ(in_predict("do_sample", "True"), "");
}

}  // namespace
}  // namespace lockstep::textgen
