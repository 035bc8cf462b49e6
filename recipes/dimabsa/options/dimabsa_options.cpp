// The dimabsa recipe's option table and its checks.
#include "recipes/dimabsa/options/dimabsa_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/options/no_effect.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/scores/score_list.h"

namespace lockstep::dimabsa {
namespace {

template <class Data>
void add_data(OptionTable& table, Data& data) {
  table.add(
      "data.path", data.path,
      {.meaning = "sentences with their tuples, one JSON object per line; empty: sentences that "
                  "are made",
       .is_path = true});
  table.add("data.valid_path", data.valid_path,
            {.meaning = "sentences to validate on; empty: a share of data.path", .is_path = true});
  table.add("data.valid_share", data.valid_share,
            {.meaning = "share of the sentences to validate on", .min = 0, .max = 0.9});
  table.add("data.split_seed", data.split_seed,
            {.meaning = "seed of the draw of these sentences", .min = 0});
  table.add(
      "data.categories", data.categories,
      {.meaning = "file with the categories of task 3, one per line; empty: those of the training "
                  "data",
       .is_path = true});
  table.add("data.language", data.language,
            {.meaning = "language of the sentences and in the names of prediction files; empty: as "
                        "in the data file's name"});
  table.add("data.domain", data.domain, {.meaning = "domain, in the same places"});
  table.add("data.not_found", data.not_found,
            {.meaning = "treatment of a phrase that is not in its text: null, it counts as NULL in "
                        "training, with a warning; refuse, an error"});
  table.add("data.out_of_range", data.out_of_range,
            {.meaning = "treatment of a valence or arousal that is not from 1 to 9: refuse, an "
                        "error; clip, the nearest value; skip, its sentence is left out; keep, as "
                        "it is"});
  table.add("data.cut", data.cut,
            {.meaning = "number of pieces of a text that are read at most",
             .unit = "pieces",
             .min = 1,
             .max = 4096});
}

template <class Model>
void add_model(OptionTable& table, Model& model) {
  table.add("model.path", model.path,
            {.meaning = "folder of a BERT, XLM-R or DeBERTa-v3 model as Hugging Face writes it; "
                        "empty: a small BERT is trained from nothing",
             .is_path = true});
  table.add("model.width", model.width,
            {.meaning = "size of the small BERT's hidden states", .min = 1, .max = 8192});
  table.add("model.layers", model.layers,
            {.meaning = "layers of the small BERT", .min = 1, .max = 100});
  table.add("model.heads", model.heads,
            {.meaning = "attention heads of the small BERT", .min = 1, .max = 256});
  table.add("model.vocabulary", model.vocabulary,
            {.meaning = "pieces that the small BERT's tokenizer learns from the data, at most",
             .min = 100,
             .max = 1e6});
  table.add("model.dropout", model.dropout,
            {.meaning = "dropout of the small BERT", .min = 0, .max = 0.9});
  table.add("model.encoder_rate", model.encoder_rate,
            {.meaning = "learning rate of the encoder as a multiple of optimizer.lr, the rate of "
                        "the heads; 0: 0.01 with model.path, 3 without",
             .min = 0,
             .max = 100});
}

template <class Loss>
void add_loss(OptionTable& table, Loss& loss) {
  table.add("loss.category", loss.category, {.meaning = "factor of the category's loss", .min = 0});
  table.add("loss.valence", loss.valence, {.meaning = "factor of the valence's loss", .min = 0});
  table.add("loss.arousal", loss.arousal, {.meaning = "factor of the arousal's loss", .min = 0});
  table.add("loss.span_weight", loss.span_weight,
            {.meaning = "weight of a token that begins or ends a span; other tokens have weight 1",
             .min = 0});
}

template <class Predict>
void add_predict(OptionTable& table, Predict& predict) {
  table.add(
      "predict.threshold", predict.threshold,
      {.meaning = "probability above which a token may begin or end a span", .min = 0, .max = 1});
  table.add("predict.beta", predict.beta,
            {.meaning = "lowest probability of a pair of aspect and opinion that is found in only "
                        "one direction",
             .min = 0,
             .max = 1});
  table.add(
      "predict.apart", predict.apart,
      {.meaning = "a span reaches over the end of another span only if it has no start of its own "
                  "after it; false: it begins at the most probable start, as in the shared task's "
                  "baseline"});
  table.add("predict.most", predict.most,
            {.meaning = "spans per query and tuples per sentence at most, the most probable ones",
             .min = 1,
             .max = 1000});
  table.add("predict.submission", predict.submission,
            {.meaning = "name of a zip file of the predictions, in the folder of outputs; empty: "
                        "none"});
  table.add("predict.language", predict.language,
            {.meaning = "language in the names of prediction files, for all inputs; empty: as in "
                        "an input's name, else data.language"});
  table.add("predict.domain", predict.domain,
            {.meaning = "domain in the names of prediction files; empty: as in an input's name, "
                        "else data.domain"});
}

}  // namespace

DimabsaOptions::DimabsaOptions() {
  table.add("task", task_number,
            {.meaning = "1: valence and arousal of given aspects; 2: triplets of aspect, opinion "
                        "and these; 3: quadruplets, with a category",
             .min = 1,
             .max = 3});
  add_data(table, data);
  add_model(table, model);
  add_loss(table, loss);
  add_predict(table, predict);
  add_item_options();
  for (const Preset& preset : presets()) table.add_preset(preset);
  table.add_synonyms(synonyms());
}

EncoderShape DimabsaOptions::small_shape(std::int64_t vocabulary, std::int64_t positions) const {
  EncoderShape shape;
  shape.vocabulary = vocabulary;
  shape.width = model.width;
  shape.layers = model.layers;
  shape.heads = model.heads;
  shape.feed_forward = 4 * model.width;
  shape.positions = positions;
  shape.dropout = model.dropout;
  shape.attention_dropout = 0;
  return shape;
}

void DimabsaOptions::defaults(TrainOptions& train, bool) const {
  train.optimizer.kind = OptimizerKind::adamw;
  train.optimizer.lr = 1e-3;
  train.optimizer.weight_decay = 0.01;
  train.schedule.kind = "linear";
  train.schedule.unit = TimeUnit::epochs;
  train.schedule.warmup = 0.3;  // a tenth of the training
  train.stop.epochs = 3;
  train.eval.every_epochs = 1;
  train.eval.batch = 16;
  train.checkpoint.every_epochs = 1;
}

void DimabsaOptions::check(const TrainOptions&) const {
  if (!model.path.empty())
    check_no_effect(
        table, "the sizes are those of model.path",
        {"model.width", "model.layers", "model.heads", "model.vocabulary", "model.dropout"});
  if (!data.valid_path.empty())
    check_no_effect(table, "data.valid_path says what to validate on",
                    {"data.valid_share", "data.split_seed"});
  if (model.path.empty() && model.width % model.heads != 0)
    throw Error(cat("model.width=", model.width, " does not divide into model.heads=", model.heads),
                cat("for example model.width=", (model.width / model.heads + 1) * model.heads));
  if (task() != Task::quadruplets && !data.categories.empty())
    throw Error(cat("data.categories is of task 3, but this is task ", task_number),
                "set task=3, or leave out data.categories");
  if (data.path.empty() && !data.valid_path.empty())
    throw Error("data.valid_path is given without data.path", "give both, or data.path alone");
  for (const auto& [key, name] : {std::pair("predict.language", &predict.language),
                                  std::pair("predict.domain", &predict.domain)})
    if (name->find('/') != std::string::npos)
      throw Error(cat(key, " is a part of a file's name, but is ", printable(*name)),
                  "for example language=eng domain=laptop");
  const std::string& zip = predict.submission;
  if (!zip.empty() && (!zip.ends_with(".zip") || zip.find('/') != std::string::npos))
    throw Error(cat("predict.submission must be the name of a zip file in the folder of outputs, "
                    "but is ",
                    zip),
                "for example submission=submission.zip; out=DIR says where it goes");
}

std::vector<std::string> DimabsaOptions::metric_names() const { return score_names(task()); }

std::optional<BuiltIn> DimabsaOptions::built_in() const {
  const bool is_small = model.path.empty() && !is_asked_for("model.width");
  if (!made() && !is_small) return std::nullopt;
  if (!is_small) return BuiltIn{"synthetic sentences", "data.path=FILE"};
  if (!made()) return BuiltIn{"a small BERT", "model.path=FOLDER"};
  return BuiltIn{"synthetic sentences and a small BERT", "data.path=FILE model.path=FOLDER"};
}

bool DimabsaOptions::is_asked_for(std::string_view key) const { return table.is_asked_for(key); }

// Language and domain come from the first of these sources: the user's options, the name of the
// file that is read now, the run's record.
std::string DimabsaOptions::prediction_file(const std::string& input) const {
  std::string language = data.language, domain = data.domain;
  std::optional<FileName> named = parse_file_name(input);
  if (!named) named = parse_file_name(data.path);
  if (named) {
    if (!is_asked_for("data.language")) language = named->language;
    if (!is_asked_for("data.domain")) domain = named->domain;
  }
  if (!predict.language.empty()) language = predict.language;
  if (!predict.domain.empty()) domain = predict.domain;
  if (language.empty() || domain.empty()) return cat("subtask_", task_number, "/pred.jsonl");
  return prediction_name(task(), language, domain);
}

std::vector<std::string> DimabsaOptions::prediction_files() const {
  if (item_options.input.empty()) return {prediction_file("")};
  std::vector<std::string> files;
  for (const std::string& input : item_options.input)
    if (std::string file = prediction_file(input);
        std::find(files.begin(), files.end(), file) == files.end())
      files.push_back(std::move(file));
  return files;
}

// The tool tokenizes each line for the worker, so the engine does not treat items as lines.
PredictInput DimabsaOptions::predict_input() const {
  PredictInput input{.kind = PredictInput::Kind::lines, .finds_items = true, .batch = 16};
  input.joint_outputs = prediction_files();
  if (!predict.submission.empty()) input.joint_outputs.push_back(predict.submission);
  return input;
}

// Keeps the language and domain of the file's name in the options. A run and its export then know
// them without the file.
void DimabsaOptions::name_data() {
  FileName named{.language = "eng", .domain = "made", .split = "", .task = {}};
  if (!made()) {
    const auto found = parse_file_name(data.path);
    if (!found) return;
    named = *found;
  }
  if (data.language.empty()) data.language = named.language;
  if (data.domain.empty()) data.domain = named.domain;
}

Prepared DimabsaOptions::prepare(const PrepareContext& context) {
  if (preparer.prepare == nullptr) return RecipeOptions::prepare(context);
  if (context.run_dir.empty()) name_data();
  Prepared prepared = PreparedOptions::prepare(context);
  prepared.extra["prediction_files"] = prediction_files();
  prepared_ = prepared.extra;
  return prepared;
}

}  // namespace lockstep::dimabsa
