// The toy regression as a plugin that predicts files: each line of a .row file holds 5 numbers, and
// the model makes 3 of them. Outputs show every bit. A line may also be a word that makes trouble.
// `items` averages runs; `found` does not, finds the files by itself, and lets devices share one
// where predict.pieces says so.
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/toy_recipe.h"
#include "training/recipe/register.h"

#include <ATen/Parallel.h>
#include <ATen/ops/tensor.h>

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

namespace lockstep::testing {
namespace {

namespace fs = std::filesystem;

// What training data hold: a factor.
double factor_in(const fs::path& file) { return std::stod(read_file(file)); }

std::string precise(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::vector<float> read_rows(const std::string& path) {
  std::vector<float> values;
  int number = 0;
  for (const std::string& line : split(read_file(path), '\n')) {
    ++number;
    if (line.empty()) continue;
    if (line == "crash") raise(SIGKILL);
    if (line == "exit") std::exit(0);
    if (line == "quick exit") _exit(0);
    if (line == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (line == "slow") continue;
    if (line == "memory") TORCH_CHECK_WITH(OutOfMemoryError, false, "no memory, by request");
    std::istringstream words(line);
    float value = 0;
    int count = 0;
    for (; words >> value; ++count) values.push_back(value);
    if (count != 5) throw Error(cat("line ", number, " must hold 5 numbers, but holds ", count));
  }
  return values;
}

}  // namespace

struct ItemOptions : RecipeOptions {
  std::string data;
  double scale = 1, shift = 0;
  std::int64_t fill_mb = 0, unused = 7, pieces = 1, pause_ms = 0;
  std::string beside, trace, kind = "plain";

  ItemOptions() {
    table.add("data.path", data, {.meaning = "file with a factor", .is_path = true});
    table.add("predict.scale", scale, {.meaning = "multiplies what is predicted"});
    table.add("predict.fill_mb", fill_mb, {.meaning = "makes outputs large", .min = 0, .max = 1e4});
    table.add("predict.beside", beside, {.meaning = "name of each item's second file"});
    table.add("predict.pieces", pieces, {.meaning = "pieces of an item at most", .min = 1});
    table.add("predict.trace", trace, {.meaning = "a folder that gets a file for each piece"});
    table.add("model.kind", kind, {.meaning = "changes nothing"});
    table.add("data.unused", unused, {.meaning = "size of a parameter", .min = 1});
    table.add("data.pause_ms", pause_ms, {.meaning = "rest of each step", .min = 0});
    table.add("evaluate.shift", shift, {.meaning = "is added to the metric"});
    add_item_options();
  }
  void defaults(TrainOptions& train, bool) const override { train.batch.global = 12; }
  Prepared prepare(const PrepareContext& context) override {
    Prepared prepared;
    if (context.purpose == Purpose::predict) {
      prepared.extra["factor"] = factor_in(context.run_dir / "recipe" / "factor.txt");
      return prepared;
    }
    prepared.extra["factor"] = factor_in(data);
    fs::create_directories(context.cache_dir);
    write_file_atomic(context.cache_dir / "factor.txt", read_file(data));
    prepared.keep = {context.cache_dir / "factor.txt"};
    return prepared;
  }
  PredictInput predict_input() const override {
    return {.kind = PredictInput::Kind::files,
            .suffixes = {".row"},
            .output_suffix = ".out",
            .joint_outputs = {"all.csv"},
            .averages = true,
            .batch = 2};
  }
  bool can_score() const override { return true; }
  std::vector<Score> score(const ScoreContext& context) override {
    const std::vector<std::string> truth = split(trim(read_file(data)), '\n');
    const std::vector<std::string> given = split(trim(read_file(context.predictions)), '\n');
    context.say("comparing");
    double same = 0;
    for (std::size_t i = 0; i < truth.size(); ++i)
      same += i < given.size() && truth[i] == given[i] ? 1 : 0;
    return {
        {.name = "same_lines", .value = same / static_cast<double>(truth.size()), .unit = "share"}};
  }
};

// The ids in ids.txt beside the data; all of their files must be there.
struct FoundOptions : ItemOptions {
  FoundOptions() { table.add("predict.seed", seed, {.meaning = "changes nothing"}); }
  PredictInput predict_input() const override {
    return {.kind = PredictInput::Kind::words, .output_suffix = ".out", .finds_items = true};
  }
  std::vector<PredictItem> items(const ItemQuery& query) const override {
    const fs::path folder = fs::path(data).parent_path();
    const std::vector<std::string> ids =
        query.inputs.empty() ? split(trim(read_file(folder / "ids.txt")), '\n') : query.inputs;
    std::vector<PredictItem> items;
    for (const std::string& id : ids) {
      const fs::path file = folder / "in" / (id + ".row");
      if (!fs::exists(file)) throw Error(cat("there is no file of the id ", id));
      items.push_back({.index = static_cast<std::int64_t>(items.size()),
                       .name = id,
                       .id = id,
                       .path = file,
                       .output = id + ".out",
                       .pieces = pieces});
    }
    return items;
  }

  std::int64_t seed = 1;
};

class CsvWriter : public PredictionWriter {
 public:
  explicit CsvWriter(JointOutputs& outputs) : file_(outputs.open("all.csv")) {
    file_.write("name,rows\n");
  }
  void add(const PredictItem& item, std::string_view bytes) override {
    std::string line = std::string(bytes.substr(0, bytes.find(' ')));
    file_.write(cat(item.id, ",", line, "\n"));
  }
  void skip(const PredictItem& item, const std::string&) override {
    file_.write(cat(item.id, ",none\n"));
  }
  void finish() override { file_.write("end\n"); }

 private:
  JointOutput& file_;
};

class ItemRecipe : public ToyRecipe {
 public:
  ItemRecipe(const ItemOptions& options, const Prepared& prepared)
      : ToyRecipe(24), options_(options), extra_(prepared.extra) {}
  std::unique_ptr<Model> build(std::uint64_t seed) override {
    auto model = std::make_unique<ToyModel>(seed);
    model->unused = at::zeros({options_.unused}).set_requires_grad(true);
    return model;
  }
  DatasetPair data() override {
    factor_in(options_.data);  // throws without it
    return ToyRecipe::data();
  }
  std::vector<at::Tensor> loss(Model& model, const Batch& batch, StepContext& context) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.pause_ms));
    return ToyRecipe::loss(model, batch, context);
  }
  std::vector<Metric> metrics(const Records& records) const override {
    return {{"error", records.dense().mean().item<double>() + options_.shift, "", true},
            {"factor", extra_.at("factor").get<double>(), "", true}};
  }
  std::vector<ItemOutput> predict_items(Model& model, const std::vector<PredictItem>& items,
                                        const ItemContext& context) override {
    std::vector<ItemOutput> outputs;
    for (const PredictItem& item : items) outputs.push_back(predict_item(model, item, context));
    return outputs;
  }
  ItemOutput predict_item(Model& model, const PredictItem& item,
                          const ItemContext& context) override {
    return output_of(item, text_of(model, item, {}, context), context);
  }
  ItemOutput predict_piece(Model& model, const PredictItem& item, ItemPiece piece,
                           const ItemContext& context) override {
    if (!options_.trace.empty())
      write_file_atomic(fs::path(options_.trace) / cat(item.id, "-", piece.index, "-", piece.count),
                        cat(getpid()));
    const std::string text = text_of(model, item, piece, context);
    if (piece.index % 2 == 0) return {.bytes = text};
    const fs::path file = context.scratch / cat("piece-", item.index, "-", piece.index);
    write_file_atomic(file, text);
    return {.path = file, .warning = "odd"};
  }
  ItemOutput join_pieces(const PredictItem& item, const std::vector<ItemOutput>& pieces,
                         const ItemContext& context) override {
    std::string text;
    for (const ItemOutput& piece : pieces)
      text += piece.path.empty() ? piece.bytes : read_file(piece.path);
    ItemOutput output = output_of(item, text, context);
    output.warning = pieces.at(1).warning;
    return output;
  }
  std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) override {
    return std::make_unique<CsvWriter>(outputs);
  }

 private:
  std::string text_of(Model& model, const PredictItem& item, ItemPiece piece,
                      const ItemContext& context) const {
    const std::vector<float> values = read_rows(item.path);
    const auto rows = static_cast<std::int64_t>(values.size()) / 5;
    const at::Tensor x = at::tensor(values).view({rows, 5});
    at::Tensor y = rows_of(model, x, context.extra);
    for (const FurtherRun& run : context.also) y = y + rows_of(*run.model, x, run.extra);
    y = y / static_cast<double>(context.models(model).size());
    std::string text = piece.index == 0 ? cat(rows, " rows\n") : "";
    const auto begin_of = [&](std::int64_t index) { return y.numel() * index / piece.count; };
    for (std::int64_t i = begin_of(piece.index); i < begin_of(piece.index + 1); ++i)
      text += precise(y.flatten()[i].item<float>()) + "\n";
    if (piece.index + 1 < piece.count) return text;
    // A sum over many numbers, which threads would share out.
    const at::Tensor first = dynamic_cast<ToyModel&>(model).first;
    text += precise(at::linear(x.repeat({4000, 1}), first).sum().item<float>()) + "\n";
    return text + std::string(static_cast<std::size_t>(options_.fill_mb) << 20, 'x');
  }
  ItemOutput output_of(const PredictItem& item, const std::string& text,
                       const ItemContext& context) const {
    const fs::path own = context.scratch / cat("moved-", item.index);
    write_file_atomic(own, "moved\n");
    return {.bytes = text,
            .files = {{.name = options_.beside.empty() ? cat("beside/", item.id, ".txt")
                                                       : options_.beside,
                       .bytes = "beside\n"},
                      {.name = cat("moved/", item.id, ".txt"), .path = own}}};
  }
  at::Tensor rows_of(Model& model, const at::Tensor& x, const nlohmann::json& extra) const {
    const auto& toy = dynamic_cast<ToyModel&>(model);
    return at::linear(at::tanh(at::linear(x, toy.first, toy.bias)), toy.second) *
           (options_.scale * extra.at("factor").get<double>());
  }

  const ItemOptions& options_;
  nlohmann::json extra_;
};

class FoundRecipe : public ItemRecipe {
 public:
  FoundRecipe(const FoundOptions& options, const Prepared& prepared)
      : ItemRecipe(options, prepared) {}
  std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs&) override { return nullptr; }
};

}  // namespace lockstep::testing

extern "C" __attribute__((visibility("default"))) const char* lockstep_plugin_version() {
  return LOCKSTEP_PLUGIN_VERSION;
}

extern "C" __attribute__((visibility("default"))) void lockstep_plugin_register() {
  using namespace lockstep::testing;
  lockstep::register_recipe_pair<ItemOptions, ItemRecipe>("items", "a tiny regression over files");
  lockstep::register_recipe_pair<FoundOptions, FoundRecipe>("found", "the same over ids");
}
