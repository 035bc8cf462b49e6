// Models of the kinds that people bring, small: ragged rows with batch norm and a frozen part, a 3D
// U-Net, a detector whose regions are chosen on the device, words of a large vocabulary.
#include "ops/embedding/embedding_sum.h"
#include "training/data/collate.h"
#include "training/recipe/batch_norm.h"
#include "training/recipe/nn_model.h"
#include "training/recipe/register.h"

#include <torch/torch.h>

#include <cmath>

namespace lockstep::testing {
namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

struct TaskOptions : RecipeOptions {
  std::int64_t samples = 48, width = 8, sizes = 1, most_rows = 0;
  std::string kind;
  double nan_at = -1;
  explicit TaskOptions(std::string which) : kind(std::move(which)) {
    table.add("data.samples", samples, {.meaning = "training samples", .min = 1, .max = 1e6});
    table.add("data.sizes", sizes, {.meaning = "sizes that samples have", .min = 1, .max = 4});
    table.add("data.nan_at", nan_at, {.meaning = "a sample that is not finite; -1: none"});
    table.add("model.most_rows", most_rows,
              {.meaning = "rows above which memory runs out; 0: none", .min = 0});
    table.add("model.width", width, {.meaning = "channels", .min = 4, .max = 256});
  }
  void defaults(TrainOptions& train, bool) const override {
    train.batch.global = 12;
    train.stop.steps = 20;
    train.optimizer.lr = 0.01;
  }
  bool low_precision() const override { return true; }
};
struct RaggedOptions : TaskOptions {
  RaggedOptions() : TaskOptions("ragged") {}
};
struct UnetOptions : TaskOptions {
  UnetOptions() : TaskOptions("unet") {}
};
struct DetectorOptions : TaskOptions {
  bool all_cells = false;
  DetectorOptions() : TaskOptions("detector") {
    table.add("model.all_cells", all_cells, {.meaning = "regions are all cells"});
  }
};

at::Tensor row_losses_sum(const at::Tensor& losses, const at::Tensor& weight) {
  return losses.to(at::kFloat).mul(weight).sum();
}

void run_out_of_memory_above(std::int64_t rows, const Batch& batch) {
  TORCH_CHECK_WITH(OutOfMemoryError, rows == 0 || batch.size() <= rows,
                   "out of memory, as the test asks for");
}

double rows_of(const Batch& batch) { return batch.row_weight.sum().item<double>(); }

// Sets of 1 to 7 points, of which the recipe learns where their mean lies.
struct PointSets : Dataset {
  PointSets(std::int64_t count, std::int64_t first, std::int64_t nan_at)
      : count(count), first(first), nan_at(nan_at) {}
  std::int64_t size() const override { return count; }
  std::vector<at::Tensor> get(std::int64_t i, SampleContext& context) const override {
    Random random(3, RandomStream::sample, static_cast<std::uint64_t>(first + i), 0);
    const std::int64_t points = 1 + (first + i) * 5 % 7;
    at::Tensor x = at::empty({points, 6});
    for (std::int64_t k = 0; k < x.numel(); ++k) x.view(-1)[k] = random.normal();
    const bool right = x.select(1, 0).mean().item<double>() > 0;
    if (context.training) x = x + 0.01 * context.random.normal();
    if (i == nan_at) x.fill_(std::nan(""));
    return {x, at::scalar_tensor(right ? 1 : 0, at::kLong)};
  }
  // Values of all points, offsets, classes [B].
  std::vector<at::Tensor> collate(const std::vector<std::vector<at::Tensor>>& rows) const override {
    const Ragged points = ragged(column(rows, 0));
    return {points.values, points.offsets, at::stack(column(rows, 1))};
  }
  std::int64_t length(std::int64_t i) const override { return 1 + (first + i) * 5 % 7; }
  std::int64_t count, first, nan_at;
};

struct PointNetImpl : nn::Module {
  explicit PointNetImpl(std::int64_t width)
      : trunk(register_module("trunk", nn::Linear(6, width))),
        norm(register_module("norm", BatchNorm(width))),
        head(register_module("head", nn::Linear(width, 2))),
        size(register_module("size", nn::Linear(width, 1))) {}
  nn::Linear trunk;
  BatchNorm norm;
  nn::Linear head, size;
};

class RaggedRecipe : public Recipe {
 public:
  RaggedRecipe(const RaggedOptions& options, const Prepared&)
      : samples_(options.samples),
        width_(options.width),
        nan_at_(static_cast<std::int64_t>(options.nan_at)) {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    return std::make_unique<NnModel<PointNetImpl>>(std::make_shared<PointNetImpl>(width_));
  }
  DatasetPair data() override {
    return {std::make_shared<PointSets>(samples_, 0, nan_at_),
            std::make_shared<PointSets>(20, samples_, -1)};
  }
  std::vector<std::string> terms() const override { return {"class", "size"}; }
  std::vector<std::string> logged() const override { return {"accuracy"}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    const at::Tensor points = batch.tensors[1].diff().to(at::kFloat);
    return {rows_of(batch), points.mul(batch.row_weight).sum().item<double>()};
  }
  struct Outputs {
    at::Tensor logits, sizes, row_of;  // [B, 2]; of each point; of each point
  };
  Outputs forward(Model& model, const Batch& batch, StepContext& context) {
    PointNetImpl& net = dynamic_cast<NnModel<PointNetImpl>&>(model).module();
    const at::Tensor &values = batch.tensors[0], &offsets = batch.tensors[1];
    const at::Tensor row_of = row_of_values(offsets, values.size(0));
    const at::Tensor points =
        net.norm->forward(net.trunk(values.to(context.compute_dtype)), context).relu();
    const at::Tensor means = at::zeros({batch.size(), points.size(1)}, points.options())
                                 .index_add(0, row_of, points)
                                 .div(offsets.diff().unsqueeze(1).to(points.scalar_type()));
    return {net.head(means).to(at::kFloat), net.size(points).squeeze(1).to(at::kFloat), row_of};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    const Outputs outputs = forward(model, batch, context);
    const at::Tensor& classes = batch.tensors[2];
    const at::Tensor right = outputs.logits.argmax(1).eq(classes).to(at::kFloat);
    context.log("accuracy", right.mul(batch.row_weight).sum(), batch.row_weight.sum());
    const at::Tensor norms = batch.tensors[0].to(at::kFloat).norm(2, 1);
    return {row_losses_sum(at::cross_entropy_loss(outputs.logits, classes, {}, at::Reduction::None),
                           batch.row_weight),
            row_losses_sum(outputs.sizes.sub(norms).square(),
                           batch.row_weight.index_select(0, outputs.row_of))};
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    const Outputs outputs = forward(model, batch, context);
    return outputs.logits.argmax(1).eq(batch.tensors[2]).to(at::kDouble).unsqueeze(1);
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"accuracy", records.dense().mean().item<double>(), "", /*lower_is_better=*/false}};
  }

 private:
  std::int64_t samples_, width_, nan_at_;
};

// Cubes with a ball in each; with sizes = 2, each other sample is larger.
struct Balls : Dataset {
  Balls(std::int64_t count, std::int64_t sizes, std::int64_t nan_at)
      : count(count), sizes(sizes), nan_at(nan_at) {}
  std::int64_t size() const override { return count; }
  // f32 [1, n, n, n], and where the ball is.
  std::vector<at::Tensor> get(std::int64_t i, SampleContext& context) const override {
    // All rows of a step have one size: it follows from the step while training.
    const std::int64_t n = 8 + 4 * ((context.training ? context.step : 0) % sizes);
    const at::Tensor axis = at::arange(n).to(at::kFloat);
    Random random(5, RandomStream::sample, static_cast<std::uint64_t>(i), 0);
    const auto square = [&] {
      return axis.sub(2 + random.uniform() * (static_cast<double>(n) - 4)).square();
    };
    const at::Tensor z = square(), y = square(), x = square();
    const at::Tensor ball =
        (z.view({n, 1, 1}) + y.view({1, n, 1}) + x.view({1, 1, n})).lt(7).to(at::kFloat);
    at::Tensor image = ball.mul(0.8).add(0.2 * random.normal()).unsqueeze(0);
    if (i == nan_at) image = image.mul(std::nan(""));
    return {image, ball.unsqueeze(0)};
  }
  std::vector<at::Tensor> collate(const std::vector<std::vector<at::Tensor>>& rows) const override {
    std::vector<at::Tensor> fields;
    for (std::size_t field = 0; field < 2; ++field)
      fields.push_back(at::stack(column(rows, field)).contiguous(at::MemoryFormat::ChannelsLast3d));
    return fields;
  }
  std::int64_t count, sizes, nan_at;
};

struct UnetImpl : nn::Module {
  explicit UnetImpl(std::int64_t width) {
    const auto conv = [&](const char* name, std::int64_t in, std::int64_t out) {
      return register_module(name, nn::Conv3d(nn::Conv3dOptions(in, out, 3).padding(1)));
    };
    first = conv("first", 1, width);
    down = conv("down", width, 2 * width);
    up = register_module(
        "up", nn::ConvTranspose3d(nn::ConvTranspose3dOptions(2 * width, width, 2).stride(2)));
    last = conv("last", 2 * width, 1);
    to(at::MemoryFormat::ChannelsLast3d);
  }
  void to(at::MemoryFormat format) {
    for (at::Tensor& parameter : parameters())
      if (parameter.dim() == 5) parameter.set_data(parameter.contiguous(format));
  }
  at::Tensor forward(const at::Tensor& x) {
    const auto norm = [](const at::Tensor& y) {
      return at::instance_norm(y, {}, {}, {}, {}, true, 0.1, 1e-5, true).relu();
    };
    const at::Tensor skip = norm(first(x));
    const at::Tensor low = norm(down(at::max_pool3d(skip, 2)));
    return last(at::cat({skip, up(low)}, 1));
  }
  nn::Conv3d first{nullptr}, down{nullptr}, last{nullptr};
  nn::ConvTranspose3d up{nullptr};
};

class UnetRecipe : public Recipe {
 public:
  UnetRecipe(const UnetOptions& options, const Prepared&)
      : samples_(options.samples),
        width_(options.width),
        sizes_(options.sizes),
        most_rows_(options.most_rows),
        nan_at_(static_cast<std::int64_t>(options.nan_at)) {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    return std::make_unique<NnModel<UnetImpl>>(std::make_shared<UnetImpl>(width_));
  }
  DatasetPair data() override {
    return {std::make_shared<Balls>(samples_, sizes_, nan_at_), std::make_shared<Balls>(12, 1, -1)};
  }
  std::vector<std::string> terms() const override { return {"dice", "entropy"}; }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {rows_of(batch), rows_of(batch) * static_cast<double>(batch.tensors[0][0].numel())};
  }
  static at::Tensor logits(Model& model, const Batch& batch, StepContext& context) {
    return dynamic_cast<NnModel<UnetImpl>&>(model)
        .module()
        .forward(batch.tensors[0].to(context.compute_dtype))
        .to(at::kFloat);
  }
  static at::Tensor dice(const at::Tensor& share, const at::Tensor& ball) {
    return share.mul(ball).flatten(1).sum(1).mul(2).add(1).div(
        share.flatten(1).sum(1).add(ball.flatten(1).sum(1)).add(1));
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    run_out_of_memory_above(most_rows_, batch);
    const at::Tensor out = logits(model, batch, context);
    const at::Tensor entropy =
        at::binary_cross_entropy_with_logits(out, batch.tensors[1], {}, {}, at::Reduction::None);
    return {row_losses_sum(1 - dice(out.sigmoid(), batch.tensors[1]), batch.row_weight),
            row_losses_sum(entropy.flatten(1).sum(1), batch.row_weight)};
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor found = logits(model, batch, context).gt(0).to(at::kFloat);
    return dice(found, batch.tensors[1]).to(at::kDouble).unsqueeze(1);
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"dice", records.dense().mean().item<double>(), "", /*lower_is_better=*/false}};
  }

 private:
  std::int64_t samples_, width_, sizes_, most_rows_, nan_at_;
};

// Pictures with a bright square in one of 16 cells.
struct Squares : Dataset {
  Squares(std::int64_t count, std::int64_t first, std::int64_t nan_at)
      : count(count), first(first), nan_at(nan_at) {}
  std::int64_t size() const override { return count; }
  // f32 [3, 16, 16], the square's cell i64 [], its offset in the cell f32 [2].
  std::vector<at::Tensor> get(std::int64_t i, SampleContext&) const override {
    Random random(9, RandomStream::sample, static_cast<std::uint64_t>(first + i), 0);
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random.below(n)); };
    const std::int64_t row = below(4), column = below(4);
    const std::int64_t y = row * 4 + below(2), x = column * 4 + below(2);
    at::Tensor picture = at::zeros({3, 16, 16}).add(0.1 * random.normal());
    picture.narrow(1, y, 3).narrow(2, x, 3).add_(1);
    if (i == nan_at) picture.fill_(std::nan(""));
    return {picture, at::scalar_tensor(row * 4 + column, at::kLong),
            at::tensor({static_cast<float>(y - row * 4), static_cast<float>(x - column * 4)})};
  }
  std::int64_t count, first, nan_at;
};

struct DetectorImpl : nn::Module {
  explicit DetectorImpl(std::int64_t width)
      : trunk(register_module("trunk",
                              nn::Conv2d(nn::Conv2dOptions(3, width, 5).stride(4).padding(2)))),
        norm(register_module("norm", BatchNorm(width))),
        scores(register_module("scores", nn::Conv2d(width, 1, 1))),
        boxes(register_module("boxes", nn::Linear(width, 2))) {}
  nn::Conv2d trunk;
  BatchNorm norm;
  nn::Conv2d scores;
  nn::Linear boxes;
};

// Regions are the cells with a score above that of the picture's mean: their number is known on the
// device alone.
class DetectorRecipe : public Recipe {
 public:
  DetectorRecipe(const DetectorOptions& options, const Prepared&)
      : samples_(options.samples),
        width_(options.width),
        most_rows_(options.most_rows),
        nan_at_(static_cast<std::int64_t>(options.nan_at)),
        all_cells_(options.all_cells) {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    return std::make_unique<NnModel<DetectorImpl>>(std::make_shared<DetectorImpl>(width_));
  }
  DatasetPair data() override {
    return {std::make_shared<Squares>(samples_, 0, nan_at_),
            std::make_shared<Squares>(16, samples_, -1)};
  }
  std::vector<std::string> terms() const override { return {"score", "box"}; }
  // Cells, of which each counts, and regions, of which a fixed number does.
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {16 * rows_of(batch), 4 * rows_of(batch)};
  }
  struct Outputs {
    at::Tensor features, scores;  // [B, 16, C], [B, 16]
  };
  static Outputs forward(DetectorImpl& net, const Batch& batch, StepContext& context) {
    const at::Tensor features =
        net.norm->forward(net.trunk(batch.tensors[0].to(context.compute_dtype)), context).relu();
    return {features.flatten(2).transpose(1, 2), net.scores(features).flatten(1).to(at::kFloat)};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    run_out_of_memory_above(most_rows_, batch);
    DetectorImpl& net = dynamic_cast<NnModel<DetectorImpl>&>(model).module();
    const Outputs outputs = forward(net, batch, context);
    const at::Tensor there =
        at::arange(16, batch.tensors[1].options()).eq(batch.tensors[1].unsqueeze(1)).to(at::kFloat);
    const at::Tensor entropy =
        at::binary_cross_entropy_with_logits(outputs.scores, there, {}, {}, at::Reduction::None);
    // Waits for the device, as NMS does: so no graph can be made of it.
    at::Tensor row, cell;
    if (all_cells_) {
      const at::Tensor all = at::arange(outputs.scores.numel(), batch.tensors[1].options());
      row = all.div(16, "floor");
      cell = all.remainder(16);
    } else {
      const at::Tensor chosen =
          outputs.scores.gt(outputs.scores.mean(1, true)).logical_or(there.gt(0)).nonzero();
      row = chosen.select(1, 0);
      cell = chosen.select(1, 1);
    }
    const at::Tensor boxes = net.boxes(outputs.features.index({row, cell})).to(at::kFloat);
    const at::Tensor off = boxes.sub(batch.tensors[2].index_select(0, row)).square().sum(1);
    const at::Tensor right = cell.eq(batch.tensors[1].index_select(0, row)).to(at::kFloat);
    return {row_losses_sum(entropy.sum(1), batch.row_weight),
            row_losses_sum(off.mul(right), batch.row_weight.index_select(0, row))};
  }
  // Whether the best cell is right, then the cells of all regions: any number.
  std::vector<at::Tensor> evaluate_items(Model& model, const Batch& batch,
                                         StepContext& context) override {
    DetectorImpl& net = dynamic_cast<NnModel<DetectorImpl>&>(model).module();
    const at::Tensor scores = forward(net, batch, context).scores;
    const at::Tensor right = scores.argmax(1).eq(batch.tensors[1]).to(at::kDouble);
    std::vector<at::Tensor> records;
    for (std::int64_t row = 0; row < batch.size(); ++row)
      records.push_back(
          at::cat({right.narrow(0, row, 1),
                   scores[row].gt(scores[row].mean()).nonzero().view(-1).to(at::kDouble)}));
    return records;
  }
  std::vector<Metric> metrics(const Records& records) const override {
    double found = 0, regions = 0;
    for (std::int64_t i = 0; i < records.size(); ++i) {
      found += records[i][0].item<double>();
      regions += static_cast<double>(records.length(i) - 1);
    }
    const auto count = static_cast<double>(records.size());
    return {{"found", found / count, "", /*lower_is_better=*/false},
            {"regions", regions / count, "cells", true}};
  }
  ItemTable items(const Records& records, EvaluationOutput&) const override {
    ItemTable table{.columns = {"found", "regions"}, .rows = {}};
    for (std::int64_t i = 0; i < records.size(); ++i)
      table.rows.push_back({records[i][0].item<double>() > 0, records.length(i) - 1});
    return table;
  }

 private:
  std::int64_t samples_, width_, most_rows_, nan_at_;
  bool all_cells_;
};

// Texts of words, of which few are frequent; the class is whether the first half has a larger mean
// than the second.
struct Texts : Dataset {
  static constexpr std::int64_t length = 24, vocabulary = 9000;
  Texts(std::int64_t count, std::int64_t first) : count(count), first(first) {}
  std::int64_t size() const override { return count; }
  std::vector<at::Tensor> get(std::int64_t i, SampleContext&) const override {
    Random random(11, RandomStream::sample, static_cast<std::uint64_t>(first + i), 0);
    at::Tensor words = at::empty({length}, at::kLong);
    for (std::int64_t k = 0; k < length; ++k)
      words[k] = static_cast<std::int64_t>(std::pow(vocabulary, random.uniform())) - 1;
    const double halves = words.narrow(0, 0, length / 2).log1p().sum().item<double>() -
                          words.narrow(0, length / 2, length / 2).log1p().sum().item<double>();
    return {words, at::scalar_tensor(halves > 0 ? 1 : 0, at::kLong)};
  }
  std::int64_t count, first;
};

struct WordsOptions : TaskOptions {
  WordsOptions() : TaskOptions("words") {}
};

class WordsModel : public Model {
 public:
  explicit WordsModel(std::int64_t width)
      : table(fresh({Texts::vocabulary, width})),
        places(fresh({Texts::length, width})),
        layer(fresh({width, width})),
        head(fresh({2, width})) {}
  std::vector<Parameter> parameters() override {
    return {{"table", table}, {"places", places}, {"layer", layer}, {"head", head}};
  }
  at::Tensor table, places, layer, head;

 private:
  static at::Tensor fresh(at::IntArrayRef sizes) {
    return at::randn(sizes).mul(0.2).requires_grad_();
  }
};

class WordsRecipe : public Recipe {
 public:
  WordsRecipe(const WordsOptions& options, const Prepared&)
      : samples_(options.samples), width_(options.width) {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    return std::make_unique<WordsModel>(width_);
  }
  DatasetPair data() override {
    return {std::make_shared<Texts>(samples_, 0), std::make_shared<Texts>(20, samples_)};
  }
  std::vector<std::string> terms() const override { return {"class"}; }
  std::vector<double> loss_weights(const Batch& batch) const override { return {rows_of(batch)}; }
  at::Tensor logits(Model& any, const Batch& batch, StepContext& context) {
    auto& model = dynamic_cast<WordsModel&>(any);
    const at::Tensor words = batch.tensors[0].flatten();
    const at::Tensor places = at::arange(Texts::length, words.options()).repeat({batch.size()});
    at::Tensor x = embedding_sum(
        {{.rows = words, .table = model.table}, {.rows = places, .table = model.places}});
    const auto block = [layer = model.layer](const std::vector<at::Tensor>& in) {
      return std::vector{in[0] + at::linear(in[0], layer).tanh()};
    };
    x = context.block(0, block, {x}, {model.layer})[0];
    const at::Tensor means = x.view({batch.size(), Texts::length, -1}).mean(1);
    return at::linear(means, model.head).to(at::kFloat);
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    return {row_losses_sum(at::cross_entropy_loss(logits(model, batch, context), batch.tensors[1],
                                                  {}, at::Reduction::None),
                           batch.row_weight)};
  }
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor right = logits(model, batch, context).argmax(1).eq(batch.tensors[1]);
    return right.to(at::kDouble).unsqueeze(1);
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"accuracy", records.dense().mean().item<double>(), "", /*lower_is_better=*/false}};
  }

 private:
  std::int64_t samples_, width_;
};

}  // namespace
}  // namespace lockstep::testing

// Four recipes in one library.
extern "C" __attribute__((visibility("default"))) const char* lockstep_plugin_version() {
  return LOCKSTEP_PLUGIN_VERSION;
}
extern "C" __attribute__((visibility("default"))) void lockstep_plugin_register() {
  using namespace lockstep::testing;
  lockstep::register_recipe_pair<RaggedOptions, RaggedRecipe>("ragged", "sets of points");
  lockstep::register_recipe_pair<UnetOptions, UnetRecipe>("unet", "balls in cubes");
  lockstep::register_recipe_pair<DetectorOptions, DetectorRecipe>("detector", "squares");
  lockstep::register_recipe_pair<WordsOptions, WordsRecipe>("words", "texts");
}
