// The options of the text recipe, and values that are computed from the options alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/options/prepared_options.h"

namespace lockstep::textgen {

enum class Gelu { tanh, erf };
enum class Positions { learned };
enum class Split { automatic, documents, tail };
enum class TokenizerKind { bytes, chars, bpe, gpt2 };

// The options of the model. The defaults are those of the preset `small`.
struct ModelShape {
  std::int64_t layers = 3, width = 128, heads = 4;
  std::int64_t feed_forward = 0;  // 0 = 4 * width
  std::int64_t context = 128;     // tokens
  std::int64_t vocab = 0;         // 0: as the tokenizer; a larger value adds rows to the embedding
  bool bias = false;              // whether linear layers and norms have biases
  bool tied = true;               // whether the output matrix is the token embedding
  Gelu gelu = Gelu::tanh;
  Positions positions = Positions::learned;
  double dropout = 0, attention_dropout = 0;
  double init_std = 0.02;

  std::int64_t hidden() const { return feed_forward == 0 ? 4 * width : feed_forward; }
};

struct TextOptions : PreparedOptions<TextOptions> {
  TextOptions();  // adds the options to `table`

  ModelShape model;
  struct {
    // Files of text. Empty: the text that comes with Lockstep. "synthetic": random tokens.
    std::vector<std::string> path;
    std::vector<std::string> valid_path;
    std::string field = "text";
    double valid_share = 0.1;
    Split split = Split::automatic;
    bool shift = true;
  } data;
  struct {
    TokenizerKind kind = TokenizerKind::bytes;
    std::int64_t vocab = 8192;
    std::string path;
  } tokenizer;
  struct {
    std::string prompt, prompt_file, stop;
    std::int64_t tokens = 256, top_k = 50, seed = 1, count = 1;
    double temperature = 0.8, top_p = 0.95, repetition_penalty = 1.0;
  } predict;

  bool synthetic() const { return data.path.size() == 1 && data.path[0] == "synthetic"; }
  // Returns the number of tokens of the tokenizer. It is 256 for bytes, tokenizer.vocab for bpe,
  // and 50257 for gpt2. For chars, returns 0, because the number depends on the corpus.
  std::int64_t expected_vocab() const;
  // Returns the number of rows of the embedding. tokenizer_vocab: the number of tokens of the
  // tokenizer; 0 means expected_vocab(). Throws Error if model.vocab is set, but is below the
  // number of tokens of the tokenizer.
  std::int64_t model_vocab(std::int64_t tokenizer_vocab = 0) const;
  std::int64_t parameter_count(std::int64_t tokenizer_vocab = 0) const;

  // Sets the default preset: `small` without a GPU, and `medium` with a GPU.
  void defaults(TrainOptions& train, bool has_gpu) const override;
  void check(const TrainOptions& train) const override;
  Prepared prepare(const PrepareContext& context) override;
  void forget_places(nlohmann::json& extra,
                     std::map<std::string, std::string>& kept) const override;
  std::vector<std::string> metric_names() const override;
  std::optional<BuiltIn> built_in() const override;
  bool low_precision() const override { return true; }
  PredictInput predict_input() const override {
    return {.option = "predict.prompt", .other_options = {"predict.prompt_file"}};
  }
  MemoryEstimate memory(const TrainOptions& train, const Facts& facts) const override;
  std::optional<double> flops_per_sample(const Facts& facts) const override;

 private:
  std::int64_t prepared_vocab_ = 0;  // number of tokens of the tokenizer; set by `prepare`
};

const std::vector<Preset>& presets();
std::vector<Synonym> synonyms();  // names that other programs use for these options

}  // namespace lockstep::textgen

namespace lockstep {

template <>
struct EnumNames<textgen::Gelu> {
  static constexpr std::pair<textgen::Gelu, const char*> value[] = {{textgen::Gelu::tanh, "tanh"},
                                                                    {textgen::Gelu::erf, "erf"}};
};
template <>
struct EnumNames<textgen::Positions> {
  static constexpr std::pair<textgen::Positions, const char*> value[] = {
      {textgen::Positions::learned, "learned"}};
};
template <>
struct EnumNames<textgen::Split> {
  static constexpr std::pair<textgen::Split, const char*> value[] = {
      {textgen::Split::automatic, "auto"},
      {textgen::Split::documents, "documents"},
      {textgen::Split::tail, "tail"}};
};
template <>
struct EnumNames<textgen::TokenizerKind> {
  static constexpr std::pair<textgen::TokenizerKind, const char*> value[] = {
      {textgen::TokenizerKind::bytes, "bytes"},
      {textgen::TokenizerKind::chars, "chars"},
      {textgen::TokenizerKind::bpe, "bpe"},
      {textgen::TokenizerKind::gpt2, "gpt2"}};
};

}  // namespace lockstep
