// The text recipe's option table and its checks.
#include "recipes/textgen/options/text_options.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json/json.h"
#include "core/base/json/json_file.h"
#include "core/base/text/text.h"
#include "planning/options/no_effect.h"

namespace lockstep::textgen {
namespace {

void add_model(OptionTable& table, ModelShape& model) {
  table.add("model.layers", model.layers, {"transformer blocks", "", 1, 1000});
  table.add("model.width", model.width, {"size of a token's vector", "", 1, 65536});
  table.add("model.heads", model.heads, {"attention heads; divides model.width", "", 1, 1024});
  table.add("model.feed_forward", model.feed_forward,
            {"hidden size of the feed-forward part; 0 is 4 x model.width", "", 0, 1 << 20});
  table.add("model.context", model.context, {"tokens that the model sees", "tokens", 2, 1 << 20});
  table.add("model.vocab", model.vocab,
            {"rows of the embedding; 0 is the tokenizer's vocabulary, more pads it", "tokens", 0,
             1 << 24});
  table.add("model.bias", model.bias, {"biases in linear layers and norms"});
  table.add("model.tied", model.tied, {"the output matrix is the token embedding"});
  table.add("model.gelu", model.gelu, {"form of the GELU: tanh approximation or erf, exact"});
  table.add("model.positions", model.positions, {"kind of position embedding"});
  table.add("model.dropout", model.dropout,
            {"dropout on embeddings and on what each block adds", "", 0, 0.95});
  table.add("model.attention_dropout", model.attention_dropout,
            {"dropout on attention probabilities; above 0 attention is slower", "", 0, 0.95});
  table.add("model.init_std", model.init_std,
            {"standard deviation of the first weights", "", 0, 10});
}

template <class Predict>
void add_predict(OptionTable& table, Predict& predict) {
  table.add("predict.prompt", predict.prompt, {"text to go on from"});
  table.add("predict.prompt_file", predict.prompt_file,
            {.meaning = "file with a prompt a line; - reads standard input",
             .is_path = true,
             .no_paths = {"-"}});
  table.add("predict.tokens", predict.tokens, {"tokens to generate", "tokens", 1, 1e9});
  table.add("predict.temperature", predict.temperature,
            {"divides the logits; 0 takes the most probable token", "", 0, 100});
  table.add("predict.top_k", predict.top_k,
            {"draw from the K most probable; 0 is off", "", 0, 1e9});
  table.add(
      "predict.top_p", predict.top_p,
      {"draw from the fewest tokens that have this probability together; 1 is off", "", 1e-6, 1});
  table.add("predict.repetition_penalty", predict.repetition_penalty,
            {"makes tokens that occurred before less probable; 1 is off", "", 0.01, 100});
  table.add("predict.stop", predict.stop, {"text at which a sample ends; empty is none"});
  table.add("predict.seed", predict.seed, {"seed of the draws", "", 0, 9e18});
  table.add("predict.count", predict.count, {"samples a prompt", "samples", 1, 100000});
}

}  // namespace

TextOptions::TextOptions() {
  add_model(table, model);
  table.add("data.path", data.path,
            {.meaning = "text, jsonl and json files (also .gz and .zst), folders, globs; empty is "
                        "tinyshakespeare, which comes with Lockstep; `synthetic` is random tokens",
             .is_path = true,
             .no_paths = {"synthetic"}});
  table.add("data.field", data.field, {"field of a jsonl line that holds the text"});
  table.add("data.valid_path", data.valid_path,
            {.meaning = "files to validate on; empty takes data.valid_share of data.path",
             .is_path = true});
  table.add("data.valid_share", data.valid_share,
            {"share of the text to validate on; 0 is none", "", 0, 0.9});
  table.add(
      "data.split", data.split,
      {"validate on whole documents or on the tail of the text; auto is documents from 20 on"});
  table.add("data.shift", data.shift, {"another offset of the grid of blocks each epoch"});
  table.add("tokenizer.kind", tokenizer.kind, {"what a token is"});
  table.add("tokenizer.vocab", tokenizer.vocab,
            {"entries of a bpe vocabulary trained on the corpus", "tokens", 260, 1000000});
  table.add("tokenizer.path", tokenizer.path,
            {.meaning = "gpt2: folder with vocab.json and merges.txt; bpe: a sentencepiece .model "
                        "to use instead of training one",
             .is_path = true});
  add_predict(table, predict);
  for (const Preset& preset : presets()) table.add_preset(preset);
  table.add_synonyms(synonyms());
}

std::int64_t TextOptions::expected_vocab() const {
  switch (tokenizer.kind) {
    case TokenizerKind::bytes:
      return 256;
    case TokenizerKind::chars:
      return 0;
    case TokenizerKind::bpe:
      return tokenizer.vocab;
    case TokenizerKind::gpt2:
      return 50257;
  }
  return 0;
}

std::int64_t TextOptions::model_vocab(std::int64_t tokenizer_vocab) const {
  const std::int64_t needed = tokenizer_vocab != 0 ? tokenizer_vocab
                              : synthetic()        ? 0
                                                   : expected_vocab();
  if (model.vocab == 0) return needed != 0 ? needed : expected_vocab();
  if (model.vocab < needed)
    throw Error(cat("model.vocab must be 0 or at least the tokenizer's ", needed,
                    " entries, but is ", model.vocab),
                "leave model.vocab at 0 to take the tokenizer's vocabulary");
  return model.vocab;
}

void TextOptions::defaults(TrainOptions& train, bool has_gpu) const {
  train.preset = has_gpu ? "medium" : "small";
}

namespace {

// Whether the options come from a run. A run has its own copy of the tokenizer, and an export has
// no record of the original files.
bool comes_with_a_run(const OptionTable& table) {
  for (const OptionInfo& option : table.options())
    if (option.key == "tokenizer.kind") return option.source.kind == ValueSource::Kind::record;
  return false;
}

}  // namespace

void TextOptions::check(const TrainOptions&) const {
  if (model.width % model.heads != 0)
    throw Error(cat("model.width must be a multiple of model.heads, but ", model.width,
                    " is not a multiple of ", model.heads),
                cat("set model.width to ", (model.width / model.heads + 1) * model.heads,
                    ", or another number of heads"));
  if (std::count(data.path.begin(), data.path.end(), "synthetic") != 0 && !synthetic())
    throw Error("data.path mixes `synthetic` with files",
                "name files only, or `synthetic` only (./synthetic is a file of that name)");
  if (tokenizer.kind != TokenizerKind::bpe)
    check_no_effect(
        table,
        cat("it is of tokenizer.kind=bpe, but the kind is ", table.get("tokenizer.kind"),
            tokenizer.kind == TokenizerKind::gpt2 ? ", whose vocabulary has 50257 tokens" : ""),
        {"tokenizer.vocab"});
  if (!tokenizer.path.empty() &&
      (tokenizer.kind == TokenizerKind::bytes || tokenizer.kind == TokenizerKind::chars))
    throw Error("tokenizer.path is set, but this tokenizer.kind has no file",
                "set tokenizer.kind to gpt2 or bpe, or leave tokenizer.path empty");
  if (synthetic() && model_vocab() == 0)
    throw Error("synthetic tokens need model.vocab, but it is 0", "set model.vocab, e.g. to 256");
  model_vocab();
  if (synthetic())
    check_no_effect(table, "data.path=synthetic is random tokens",
                    {"data.field", "data.valid_path", "data.valid_share", "data.split"});
  if (!data.valid_path.empty())
    check_no_effect(table, "data.valid_path says what to validate on",
                    {"data.valid_share", "data.split"});
  const bool needs_path = !synthetic() && tokenizer.kind == TokenizerKind::gpt2;
  if (needs_path && tokenizer.path.empty() && !comes_with_a_run(table))
    throw MissingFile(
        "tokenizer.kind = gpt2 needs the vocabulary of GPT-2, but tokenizer.path is empty",
        "set tokenizer.path to a folder with GPT-2's vocab.json and merges.txt "
        "(`lockstep help vocabulary of GPT-2` says how to get them), or tokenizer.kind=bpe to "
        "train a vocabulary on the corpus");
}

std::optional<BuiltIn> TextOptions::built_in() const {
  if (!data.path.empty()) return std::nullopt;
  return BuiltIn{"the plays of Shakespeare that come along", "data.path=FILE"};
}

std::vector<std::string> TextOptions::metric_names() const {
  return {"loss", "perplexity", "bits_per_byte", "tokens", "pair_bits_per_byte"};
}

Prepared TextOptions::prepare(const PrepareContext& context) {
  if (preparer.prepare == nullptr) return RecipeOptions::prepare(context);
  Prepared prepared = PreparedOptions::prepare(context);
  prepared_vocab_ = prepared.extra.value("tokenizer_vocab", std::int64_t{0});
  return prepared;
}

// prepared.json contains the paths of the text. Only a run that resumes training needs them.
void TextOptions::forget_places(nlohmann::json& extra,
                                std::map<std::string, std::string>& kept) const {
  if (extra.is_object())
    for (const char* key : {"pieces", "bytes", "train", "valid"}) extra.erase(key);
  const auto file = kept.find("prepared.json");
  if (file == kept.end()) return;
  nlohmann::json record = parse_json(file->second);
  if (!record.is_object()) return;
  record["options"] = nlohmann::json::object();
  file->second = json_file_text(record);
}

}  // namespace lockstep::textgen
