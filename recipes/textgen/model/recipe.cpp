// Implements the engine's recipe interface for text.
#include "recipes/textgen/model/recipe.h"

#include "core/base/check.h"
#include "core/base/text/text.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "recipes/textgen/model/dataset.h"
#include "recipes/textgen/model/loss.h"
#include "recipes/textgen/model/metrics.h"
#include "recipes/textgen/model/token_source.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <optional>

namespace lockstep::textgen {
namespace {

Gpt& gpt(Model& model) { return dynamic_cast<Gpt&>(model); }

at::Tensor logits_of(Model& model, const Batch& batch, const StepContext& context) {
  const Gpt& net = gpt(model);
  return net.logits(net.hidden(batch.tensors.at(0), context));
}

}  // namespace

GptShape gpt_shape(const TextOptions& options, std::int64_t vocab) {
  const ModelShape& model = options.model;
  return {.vocab = vocab,
          .width = model.width,
          .layers = model.layers,
          .heads = model.heads,
          .feed_forward = model.hidden(),
          .context = model.context,
          .bias = model.bias,
          .tanh_gelu = model.gelu == Gelu::tanh,
          .tied = model.tied,
          .dropout = model.dropout,
          .attention_dropout = model.attention_dropout,
          .init_std = model.init_std};
}

TextRecipe::TextRecipe(const TextOptions& options, const Prepared& prepared)
    : extra_(prepared.extra),
      shape_(gpt_shape(options, extra_.contains("vocab") ? extra_["vocab"].get<std::int64_t>()
                                                         : options.model_vocab())),
      shifting_(options.data.shift),
      synthetic_(extra_.value("synthetic", options.synthetic())),
      sample_(sample_settings(options)) {}

std::unique_ptr<Model> TextRecipe::build(std::uint64_t seed) {
  return std::make_unique<Gpt>(shape_, seed);
}

std::shared_ptr<const Dataset> TextRecipe::dataset(const std::string& name,
                                                   std::uint64_t number) const {
  const auto tokens = extra_.at(name + "_tokens").get<std::int64_t>();
  if (tokens < 2) return nullptr;
  std::shared_ptr<const TokenSource> source;
  if (synthetic_)
    source = std::make_shared<SyntheticTokens>(number, tokens, shape_.vocab);
  else
    source = std::make_shared<FileTokens>(extra_.at(name).get<std::string>());
  return std::make_shared<TextDataset>(std::move(source), shape_.context, shifting_);
}

DatasetPair TextRecipe::data() {
  return {.train = dataset("train", 0), .valid = dataset("valid", 1)};
}

std::vector<double> TextRecipe::loss_weights(const Batch& batch) const {
  return {batch.tensors.at(1).ge(0).sum().item<double>()};
}

std::vector<at::Tensor> TextRecipe::loss(Model& model, const Batch& batch, StepContext& context) {
  const at::Tensor& targets = batch.tensors.at(1);
  const bool known_scale = context.training && context.gradient_scale.defined();
  if (!known_scale) return {token_loss(logits_of(model, batch, context), targets)};
  const Gpt& net = gpt(model);
  const at::Tensor hidden = net.hidden(batch.tensors.at(0), context);
  return {linear_cross_entropy(hidden.flatten(0, 1), net.output_matrix(), targets.flatten(),
                               context.gradient_scale[0])};
}

const at::Tensor& TextRecipe::bytes_of_tokens(at::Device device) {
  if (!bytes_.defined()) {
    bytes_ =
        synthetic_ ? at::ones({shape_.vocab}, at::kDouble) : at::zeros({shape_.vocab}, at::kDouble);
    if (!synthetic_) {
      const TokenFile file(extra_.at("bytes").get<std::string>());
      LOCKSTEP_CHECK(file.size() <= shape_.vocab);
      double* bytes = bytes_.mutable_data_ptr<double>();
      for (std::int64_t i = 0; i < file.size(); ++i) bytes[i] = static_cast<double>(file.at(i));
    }
  }
  if (bytes_.device() != device) bytes_ = bytes_.to(device);
  return bytes_;
}

at::Tensor TextRecipe::evaluate(Model& model, const Batch& batch, StepContext& context) {
  const at::Tensor& targets = batch.tensors.at(1);
  const Gpt& net = gpt(model);
  const at::Tensor hidden = net.hidden(batch.tensors.at(0), context);
  const at::Tensor nats = linear_row_losses(hidden, net.output_matrix(), targets);
  const at::Tensor counts = targets.ge(0).to(at::kDouble);
  const at::Tensor bytes = bytes_of_tokens(targets.device())
                               .index_select(0, targets.clamp_min(0).flatten())
                               .view(targets.sizes())
                               .mul(counts);
  return at::stack({nats, counts.sum(1), bytes.sum(1)}, 1);
}

std::vector<Metric> TextRecipe::metrics(const Records& records) const {
  const double pairs = extra_.value("pair_bits_per_byte", 0.0);
  return text_metrics(records.dense(), pairs > 0 ? std::optional<double>(pairs) : std::nullopt);
}

void TextRecipe::predict(Model& model, const PredictRequest& request) {
  predict_text(gpt(model), request, sample_);
}

std::string TextRecipe::smaller_sample() const {
  if (shape_.context < 2) return "";
  return cat("a shorter context (model.context=", shape_.context / 2, " instead of ",
             shape_.context, " takes half of the activations)");
}

}  // namespace lockstep::textgen
