// What does a picture show? A ResNet-18 that starts from torchvision's weights, or from nothing.
#include "pictures.h"
#include "resnet.h"

#include <lockstep/core/base/error.h>
#include <lockstep/core/base/files/files.h>
#include <lockstep/core/base/hash.h>
#include <lockstep/core/base/text/text.h>
#include <lockstep/core/media/pictures/draw.h>
#include <lockstep/core/media/pictures/picture_file.h>
#include <lockstep/ops/augment/augment.h>
#include <lockstep/training/recipe/nn_model.h>
#include <lockstep/training/recipe/register.h>

using namespace lockstep;
namespace fs = std::filesystem;
using Net = NnModel<ResNetImpl>;

struct ImagesOptions : RecipeOptions {
  std::string path, valid;
  std::int64_t width = 64, size = 64;
  double valid_share = 0.2;

  ImagesOptions() {
    table.add(
        "data.path", path,
        {.meaning = "folder with a folder of pictures per class; empty: shapes that are drawn",
         .is_path = true});
    table.add(
        "data.valid", valid,
        {.meaning = "such a folder to validate on; empty: a share of data.path", .is_path = true});
    table.add("data.valid_share", valid_share,
              {.meaning = "of the pictures, without data.valid", .min = 0, .max = 0.9});
    table.add("data.size", size,
              {.meaning = "edge of what the model sees", .unit = "pixels", .min = 32, .max = 2048});
    table.add("model.width", width,
              {.meaning = "channels of the first stage; 64 for torchvision's weights",
               .min = 1,
               .max = 1024});
    add_item_options();
  }
  void defaults(TrainOptions& train, bool) const override {
    train.batch.global = 24;
    train.stop.epochs = 10;
    train.optimizer.lr = 1e-3;
  }
  bool low_precision() const override { return true; }
  std::vector<std::string> metric_names() const override { return {"accuracy"}; }

  // The classes are those of the run once it has begun.
  Prepared prepare(const PrepareContext& context) override {
    Prepared prepared;
    const fs::path kept = context.run_dir / "recipe/classes.json";
    if (!context.run_dir.empty() && fs::exists(kept))
      prepared.extra["classes"] = nlohmann::json::parse(read_file(kept));
    if (context.purpose == Purpose::predict) return prepared;
    std::string folder = path;
    if (folder.empty()) {
      folder = context.cache_dir / "shapes";
      context.say("data.path is empty: circles, squares and triangles that are drawn");
      draw_shapes(folder, 100);
    }
    prepared.extra["folder"] = folder;
    const PictureFolder found =
        list_pictures(folder, prepared.extra.value("classes", std::vector<std::string>()));
    prepared.extra["classes"] = found.classes;
    context.say(cat(found.files.size(), " pictures of ", join(found.classes, ", ")));
    const std::string text = prepared.extra["classes"].dump();
    Hasher hash;
    hash.update(text);
    const fs::path cache = context.cache_dir / hash.hex();
    make_directories(cache);
    write_file_atomic(cache / "classes.json", text);
    prepared.keep = {cache / "classes.json"};
    return prepared;
  }
  PredictInput predict_input() const override {
    return {.kind = PredictInput::Kind::files,
            .suffixes = {".jpg", ".jpeg", ".png"},
            .joint_outputs = {"predictions.csv"},
            .batch = 16};
  }
};

// sample: picture u8 [3, size, size], class i64 []
struct Pictures : Dataset {
  std::int64_t size() const override { return static_cast<std::int64_t>(files.size()); }
  std::vector<at::Tensor> get(std::int64_t i, SampleContext& context) const override {
    const PictureFolder::File& file = files[static_cast<std::size_t>(i)];
    return {read_square(file.path, edge, context.training ? &context.random : nullptr),
            torch::tensor(file.label)};
  }
  std::vector<PictureFolder::File> files;
  std::int64_t edge = 0;
};

struct ImagesRecipe : Recipe {
  ImagesRecipe(const ImagesOptions& options, const Prepared& prepared)
      : folder(prepared.extra.value("folder", "")),
        valid(options.valid),
        classes(prepared.extra.at("classes")),
        width(options.width),
        edge(options.size),
        valid_share(options.valid_share) {}

  std::unique_ptr<Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    return std::make_unique<Net>(
        std::make_shared<ResNetImpl>(width, static_cast<std::int64_t>(classes.size())));
  }
  // Files of torch.nn.DataParallel.
  std::vector<std::pair<std::string, std::string>> weight_names() const override {
    return {{"module.*", "*"}};
  }
  DatasetPair data() override {
    const auto train = std::make_shared<Pictures>();
    pictures = std::make_shared<Pictures>();
    train->edge = pictures->edge = edge;
    const PictureFolder all = list_pictures(folder, classes);
    for (std::size_t i = 0; i < all.files.size(); ++i) {
      Random random(1, RandomStream::sample, i, 0);
      const bool held_back = valid.empty() && random.uniform() < valid_share;
      (held_back ? pictures : train)->files.push_back(all.files[i]);
    }
    if (!valid.empty()) pictures->files = list_pictures(valid, classes).files;
    return {train, pictures};
  }

  // pictures: u8 [B, 3, size, size].
  at::Tensor logits(Model& model, const at::Tensor& pictures, const StepContext& context) {
    const auto of_channels = [&](double red, double green, double blue) {
      return torch::stack({pictures.new_full({}, red, torch::kFloat),
                           pictures.new_full({}, green, torch::kFloat),
                           pictures.new_full({}, blue, torch::kFloat)})
          .view({1, 3, 1, 1});
    };
    at::Tensor x = pictures.to(torch::kFloat).div(255);
    x = (x - of_channels(0.485, 0.456, 0.406)) / of_channels(0.229, 0.224, 0.225);
    if (context.training) {
      const at::Tensor numbers = context.uniform(x.size(0), 2, /*layer=*/0);
      x = flip_rows(x, {3}, numbers.narrow(1, 0, 1));
      x = scale_contrast(x, between(numbers.select(1, 1), 0.8, 1.25));
    }
    return dynamic_cast<Net&>(model)
        .module()
        .forward(x.to(context.compute_dtype), context)
        .to(torch::kFloat);
  }
  std::vector<double> loss_weights(const Batch& batch) const override {
    return {batch.row_weight.sum().item<double>()};
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor rows = torch::cross_entropy_loss(logits(model, batch.tensors[0], context),
                                                      batch.tensors[1], {}, at::Reduction::None);
    return {rows.mul(batch.row_weight).sum()};
  }

  // A record: class, what was predicted, and its probability. Pictures that were taken for another
  // class go into the run.
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    const auto [share, best] = logits(model, batch.tensors[0], context).softmax(1).max(1);
    const at::Tensor records =
        torch::stack({batch.tensors[1].to(torch::kFloat), best.to(torch::kFloat), share}, 1);
    if (context.output == nullptr) return records;
    const at::Tensor known = records.cpu(), weight = batch.row_weight.cpu();
    for (std::int64_t row = 0; row < batch.size(); ++row)
      if (weight[row].item<float>() > 0 &&
          known[row][0].item<float>() != known[row][1].item<float>())
        context.output->picture(cat("wrong-", batch.first_global_row + row), "png", [&] {
          return picture_of(batch.tensors[0][row],
                            cat(name_of(known[row][0]), " taken for ", name_of(known[row][1])));
        });
    return records;
  }
  const std::string& name_of(const at::Tensor& label) const {
    return classes[static_cast<std::size_t>(label.item<double>())];
  }
  static std::string picture_of(const at::Tensor& pixels, const std::string& text) {
    const at::Tensor large = pixels.repeat_interleave(4, 1).repeat_interleave(4, 2);
    const at::Tensor rows = large.permute({1, 2, 0}).contiguous().cpu();  // [H, W, 3]
    Image image({.height = static_cast<int>(rows.size(0)),
                 .width = static_cast<int>(rows.size(1)),
                 .channels = 3});
    std::copy_n(rows.const_data_ptr<std::uint8_t>(), image.u8().size(), image.u8().begin());
    draw_text(image, 4, 4, text, Colour{255, 255, 0});
    return encode_png(image);
  }
  std::vector<Metric> metrics(const Records& records) const override {
    const at::Tensor all = records.dense();
    return {{"accuracy",
             all.select(1, 0).eq(all.select(1, 1)).to(torch::kDouble).mean().item<double>(), "",
             /*lower_is_better=*/false}};
  }
  ItemTable items(const Records& records, EvaluationOutput&) const override {
    ItemTable table{.columns = {"file", "class", "predicted", "probability"}, .rows = {}};
    for (std::int64_t i = 0; i < records.size(); ++i)
      table.rows.push_back({pictures->files[static_cast<std::size_t>(i)].path.string(),
                            name_of(records[i][0]), name_of(records[i][1]),
                            records[i][2].item<double>()});
    return table;
  }

  std::vector<ItemOutput> predict_items(Model& model, const std::vector<PredictItem>& items,
                                        const ItemContext& context) override {
    std::vector<at::Tensor> squares;
    for (const PredictItem& item : items) squares.push_back(read_square(item.path, edge, nullptr));
    const StepContext step = prediction_context(context);
    const at::Tensor shares =
        logits(model, torch::stack(squares).to(context.device), step).softmax(1).cpu();
    std::vector<ItemOutput> outputs;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto [share, best] = shares[static_cast<std::int64_t>(i)].max(0);
      outputs.push_back({.bytes = csv_line({items[i].id, name_of(best), share.item<double>()})});
    }
    return outputs;
  }
  struct PredictionsFile : PredictionWriter {
    explicit PredictionsFile(JointOutputs& outputs) : file(outputs.open("predictions.csv")) {
      file.write(csv_line({"file", "class", "probability"}));
    }
    void add(const PredictItem&, std::string_view line) override { file.write(line); }
    void finish() override {}
    JointOutput& file;
  };
  std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) override {
    return std::make_unique<PredictionsFile>(outputs);
  }

  std::string folder, valid;
  std::vector<std::string> classes;
  std::int64_t width, edge;
  double valid_share;
  std::shared_ptr<Pictures> pictures;  // of validation
};

LOCKSTEP_PLUGIN("images", "tells what a picture shows", ImagesOptions, ImagesRecipe)
