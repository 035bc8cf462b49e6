// Writes the hidden states of an encoder with the weights of a Hugging Face folder, and the
// gradient of a loss: dump-encoder FOLDER TEXTS.json OUT. TEXTS: {"tokens": [[…], …], "segments":
// [[…], …], "positions": [[…], …]}. OUT.hidden: f32 [N, width] of all texts, one behind the other.
// The loss is the sum of hidden[n, c] * sin(n + c). OUT.gradients/NAME: f32, raw.
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "recipes/dimabsa/encoder/encoder.h"
#include "training/checkpoint/first_weights.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/tensor.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

namespace lockstep::dimabsa {
namespace {

class EncoderModel : public Model {
 public:
  explicit EncoderModel(const EncoderShape& shape) : encoder_(make_encoder(shape, 1)) {}
  std::vector<Parameter> parameters() override {
    std::vector<Parameter> all = encoder_->parameters();
    for (Parameter& parameter : all) parameter.name = "encoder." + parameter.name;
    return all;
  }
  Encoder& encoder() { return *encoder_; }

 private:
  std::unique_ptr<Encoder> encoder_;
};

// Nothing but its names is asked for.
class NamesOnly : public Recipe {
 public:
  explicit NamesOnly(const EncoderShape& shape) : shape_(shape) {}
  std::unique_ptr<Model> build(std::uint64_t) override { return nullptr; }
  DatasetPair data() override { return {}; }
  std::vector<double> loss_weights(const Batch&) const override { return {}; }
  std::vector<at::Tensor> loss(Model&, const Batch&, StepContext&) override { return {}; }
  std::vector<Metric> metrics(const Records&) const override { return {}; }
  std::vector<std::pair<std::string, std::string>> weight_names() const override {
    return encoder_weight_names(shape_);
  }

 private:
  EncoderShape shape_;
};

at::Tensor joined(const nlohmann::json& texts) {
  std::vector<std::int64_t> all;
  for (const auto& text : texts)
    for (const auto& value : text) all.push_back(value.get<std::int64_t>());
  return at::tensor(all, at::kLong);
}

EncoderInput input_from(const nlohmann::json& json) {
  std::vector<std::int64_t> offsets{0};
  EncoderInput input{.tokens = joined(json.at("tokens")), .segments = joined(json.at("segments"))};
  if (json.contains("positions")) input.positions = joined(json.at("positions"));
  for (const auto& text : json.at("tokens")) {
    offsets.push_back(offsets.back() + static_cast<std::int64_t>(text.size()));
    input.longest = std::max(input.longest, static_cast<std::int64_t>(text.size()));
  }
  input.offsets = input.row_offsets = at::tensor(offsets, at::kLong);
  return input;
}

void write(const std::filesystem::path& path, const at::Tensor& tensor) {
  const at::Tensor values = tensor.contiguous();
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(values.const_data_ptr()),
             static_cast<std::streamsize>(values.nbytes()));
}

void run(const std::filesystem::path& folder, const std::string& texts, const std::string& out) {
  const EncoderShape shape = read_shape(folder);
  EncoderModel model(shape);
  TrainOptions options;
  options.init.unexpected = ignored_weights(shape);
  load_first_weights(model, NamesOnly(shape), options, find_weight_source(folder, false, false));
  StepContext context;
  context.training = false;
  const at::Tensor hidden =
      model.encoder().forward(input_from(nlohmann::json::parse(read_file(texts))), context);
  write(out + ".hidden", hidden.detach());
  const at::Tensor weights =
      at::sin(at::arange(hidden.size(0)).unsqueeze(1) + at::arange(hidden.size(1)).to(at::kFloat));
  hidden.mul(weights).sum().backward();
  std::filesystem::create_directory(out + ".gradients");
  for (const Parameter& parameter : model.encoder().parameters())
    write(std::filesystem::path(out + ".gradients") / parameter.name, parameter.tensor.grad());
}

}  // namespace
}  // namespace lockstep::dimabsa

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    lockstep::dimabsa::run(argv[1], argv[2], argv[3]);
  } catch (const lockstep::Error& error) {
    std::cerr << "error: " << error.what() << "\n\nhint: " << error.hint() << "\n";
    return 1;
  }
  return 0;
}
