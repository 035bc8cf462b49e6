#include "recipes/dimabsa/model/recipe.h"

#include "core/base/text/text.h"
#include "recipes/dimabsa/model/as_sentence.h"
#include "recipes/dimabsa/model/loss.h"
#include "recipes/dimabsa/model/table.h"
#include "recipes/dimabsa/sentences/files/sentence_errors.h"
#include "recipes/dimabsa/sentences/pages/html_page.h"
#include "recipes/dimabsa/sentences/pages/va_chart.h"
#include "recipes/dimabsa/sentences/scores/breakdown.h"
#include "recipes/dimabsa/sentences/scores/score_list.h"
#include "training/checkpoint/first_weights.h"

#include <utility>

namespace lockstep::dimabsa {
namespace {

const Net& net_of(const Model& model) { return dynamic_cast<const Net&>(model); }

NetShape net_shape(const DimabsaOptions& options, const nlohmann::json& extra) {
  return {.encoder = read_shape(extra.at("config"), "config.json"),
          .task = options.task(),
          .categories = std::ssize(extra.at("categories")),
          .encoder_rate = encoder_rate(options),
          .from_nothing = options.model.path.empty()};
}

}  // namespace

DimabsaRecipe::DimabsaRecipe(const DimabsaOptions& options, const Prepared& prepared)
    : task_(options.task()),
      shape_(net_shape(options, prepared.extra)),
      categories_(prepared.extra.at("categories").get<std::vector<std::string>>()),
      train_(prepared.extra.value("train", "")),
      valid_(prepared.extra.value("valid", "")),
      prediction_files_(prepared.extra.value("prediction_files", std::vector<std::string>())),
      submission_(options.predict.submission),
      weights_(prepared.extra.value("weights", nlohmann::json())),
      evaluated_(prepared.extra.value("evaluated", "")) {
  if (const auto mean = prepared.extra.value("mean_va", nlohmann::json()); mean.is_array())
    mean_ = ValenceArousal{mean.at(0).get<double>(), mean.at(1).get<double>()};
  const EncodedQueries queries = queries_from_json(prepared.extra.at("queries"));
  samples_ = {.task = task_,
              .queries = queries,
              .longest = shape_.encoder.longest(),
              .category = options.loss.category,
              .valence = options.loss.valence,
              .arousal = options.loss.arousal,
              .span_weight = options.loss.span_weight};
  finder_ = {.queries = queries,
             .longest = shape_.encoder.longest(),
             .decode = {.threshold = options.predict.threshold,
                        .beta = options.predict.beta,
                        .most = static_cast<std::size_t>(options.predict.most),
                        .longest_span = prepared.extra.at("longest_span"),
                        .apart = options.predict.apart}};
}

std::unique_ptr<Model> DimabsaRecipe::build(std::uint64_t seed) {
  return std::make_unique<Net>(shape_, seed);
}

void DimabsaRecipe::initialise(Model& model) {
  if (weights_.is_null()) return;
  TrainOptions options;
  options.init.missing = {"heads.*"};
  options.init.unexpected = ignored_weights(shape_.encoder);
  load_first_weights(model, *this, options, weight_source_from_json(weights_));
}

DatasetPair DimabsaRecipe::data() {
  valid_sentences_ = read_encoded(valid_);
  DatasetPair pair{
      .train = std::make_shared<TrainingSentences>(
          std::make_shared<std::vector<EncodedSentence>>(read_encoded(train_)), samples_),
      .valid = nullptr};
  if (!valid_sentences_.empty())
    pair.valid = std::make_shared<WholeSentences>(std::ssize(valid_sentences_));
  return pair;
}

std::vector<std::pair<std::string, std::string>> DimabsaRecipe::weight_names() const {
  return encoder_weight_names(shape_.encoder);
}

std::vector<std::string> DimabsaRecipe::terms() const {
  std::vector<std::string> names;
  for (const Pass pass : passes_of(task_)) names.emplace_back(name_of(pass));
  return names;
}

std::vector<double> DimabsaRecipe::loss_weights(const Batch& batch) const {
  return pass_weights(batch.tensors, passes_of(task_));
}

std::vector<at::Tensor> DimabsaRecipe::loss(Model& model, const Batch& batch,
                                            StepContext& context) {
  return pass_losses(net_of(model), batch.tensors, passes_of(task_), context);
}

std::vector<at::Tensor> DimabsaRecipe::evaluate_items(Model& model, const Batch& batch,
                                                      StepContext& context) {
  const at::Tensor index = batch.tensors.at(0).cpu();
  std::vector<const EncodedSentence*> sentences;
  for (std::int64_t row = 0; row < batch.size(); ++row)
    sentences.push_back(
        &valid_sentences_.at(static_cast<std::size_t>(index[row].item<std::int64_t>())));
  const TupleFinder finder(net_of(model), finder_, context);
  std::vector<at::Tensor> records;
  for (const std::vector<FoundTuple>& found : finder.find(sentences))
    records.push_back(to_record(found));
  return records;
}

Aligned DimabsaRecipe::aligned(const Records& records) const {
  Aligned all;
  for (std::int64_t i = 0; i < records.size(); ++i) {
    const EncodedSentence& sentence = valid_sentences_.at(static_cast<std::size_t>(i));
    all.gold.push_back(sentence.sentence);
    all.predicted.push_back(as_sentence(task_, sentence, from_record(records[i]), categories_));
  }
  return all;
}

std::vector<Metric> DimabsaRecipe::metrics(const Records& records) const {
  const Aligned all = aligned(records);
  const Scores scores = score_in_order(task_, all.gold, all.predicted);
  std::vector<Metric> metrics;
  for (const Score& score : score_list(task_, scores)) {
    metrics.push_back({.name = score.name,
                       .value = score.value,
                       .unit = score.unit,
                       .lower_is_better = score.lower_is_better});
    if (score.name == "rmse_va" && mean_)
      metrics.push_back({.name = "rmse_va_baseline",
                         .value = scores.va.rmse_of_constant(*mean_),
                         .lower_is_better = true});
  }
  return metrics;
}

ItemTable DimabsaRecipe::items(const Records& records, EvaluationOutput& output) const {
  const Aligned all = aligned(records);
  output.table("null", group_table(task_, by_null(task_, all)));
  if (task_ == Task::quadruplets)
    output.table("categories", group_table(task_, by_category(task_, all)));
  output.picture("valence-arousal", "svg", [&] { return va_chart(task_, all); });
  const std::string title =
      evaluated_.empty() ? "Validation sentences" : cat("Sentences of ", evaluated_);
  output.picture("sentences", "html", [&] { return html_page(task_, all, {.title = title}); });
  return marked_table(task_, all);
}

}  // namespace lockstep::dimabsa
