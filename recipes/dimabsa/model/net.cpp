#include "recipes/dimabsa/model/net.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "core/base/philox.h"
#include "core/base/text/text.h"
#include "ops/linear/linear.h"
#include "ops/linear_of_rows/linear_of_rows.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::uint64_t head_stream = 1'000'000;  // above the numbers of an encoder's parameters

at::Tensor uniform_parameter(at::IntArrayRef sizes, double limit, std::uint64_t seed,
                             std::uint64_t number) {
  at::Tensor tensor = at::empty(sizes, at::kFloat);
  Random random(seed, RandomStream::init, head_stream + number, 0);
  float* const values = tensor.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = static_cast<float>((2 * random.uniform() - 1) * limit);
  return tensor.requires_grad_(true);
}

// Key weights begin as copies of query weights, so that a token attends to similar tokens. The
// model then finds a query's phrase in the text long before it would have learned to search for it.
void prepare_small(Encoder& encoder, std::int64_t width) {
  constexpr double drawn = 0.02;  // the standard deviation in make_encoder
  const at::NoGradGuard guard;
  std::map<std::string, at::Tensor> by_name;
  for (const Parameter& parameter : encoder.parameters()) {
    by_name[parameter.name] = parameter.tensor;
    if (parameter.tensor.dim() == 2 && parameter.name.find("embeddings") == std::string::npos)
      parameter.tensor.mul_(1 / (drawn * std::sqrt(static_cast<double>(width))));
  }
  const std::string query = "query.weight", key = "key.weight";
  for (const auto& [name, tensor] : by_name)
    if (name.ends_with(query))
      if (const auto found = by_name.find(name.substr(0, name.size() - query.size()) + key);
          found != by_name.end())
        found->second.copy_(tensor);
}

}  // namespace

Net::Net(const NetShape& shape, std::uint64_t seed)
    : shape_(shape), encoder_(make_encoder(shape.encoder, seed)) {
  if (shape.from_nothing) prepare_small(*encoder_, shape.encoder.width);
  if (shape.task != Task::aspects) span_ = make_head("span", 16, seed);
  if (shape.task == Task::quadruplets) category_ = make_head("category", shape.categories, seed);
  valence_arousal_ = make_head("valence_arousal", 2, seed);
}

Net::Head Net::make_head(const char* name, std::int64_t outputs, std::uint64_t seed) {
  const std::int64_t width = shape_.encoder.width;
  const double limit = 1 / std::sqrt(static_cast<double>(width));
  const std::uint64_t number = head_parameters_.size();
  const Head head{.weight = uniform_parameter({outputs, width}, limit, seed, number),
                  .bias = uniform_parameter({outputs}, limit, seed, number + 1)};
  head_parameters_.push_back(
      {.name = cat("heads.", name, ".weight"), .tensor = head.weight, .use = ParameterUse::head});
  head_parameters_.push_back(
      {.name = cat("heads.", name, ".bias"), .tensor = head.bias, .decay = false});
  return head;
}

std::vector<Parameter> Net::parameters() {
  std::vector<Parameter> all;
  for (Parameter parameter : encoder_->parameters()) {
    parameter.name = "encoder." + parameter.name;
    parameter.lr_scale *= shape_.encoder_rate;
    all.push_back(std::move(parameter));
  }
  all.insert(all.end(), head_parameters_.begin(), head_parameters_.end());
  return all;
}

at::Tensor Net::hidden(const EncoderInput& input, const StepContext& context) const {
  return encoder_->forward(input, context);
}

at::Tensor Net::span_logits(const at::Tensor& hidden) const {
  return linear_layer(hidden, span_.weight, span_.bias)
      .view({hidden.size(0), static_cast<std::int64_t>(4), 2, 2});
}

Net::Answer Net::category_logits(const at::Tensor& hidden, const at::Tensor& rows) const {
  return linear_of_rows_beside(hidden, rows, category_.weight, category_.bias);
}

Net::Answer Net::valence_arousal(const at::Tensor& hidden, const at::Tensor& rows) const {
  return linear_of_rows_beside(hidden, rows, valence_arousal_.weight, valence_arousal_.bias);
}

}  // namespace lockstep::dimabsa
