// Which class does a row of a table belong to? From a CSV file to a file of predictions.
#include "encoding.h"

#include <lockstep/core/base/error.h>
#include <lockstep/core/base/files/files.h>
#include <lockstep/core/base/hash.h>
#include <lockstep/core/base/text/text.h>
#include <lockstep/runtime/run/predictions/item_table.h>
#include <lockstep/training/recipe/nn_model.h>
#include <lockstep/training/recipe/register.h>
#include <torch/torch.h>

using namespace lockstep;
namespace nn = torch::nn;
namespace fs = std::filesystem;

namespace {

constexpr const char* kept_file = "encoding.json";

// Which rows are for training, and which for validation: the same wherever it is asked.
struct Split {
  std::vector<std::size_t> train, valid;
};
Split split_rows(const CsvTable& table, const std::string& target, double valid_share) {
  Split split;
  const std::size_t column = table.column(target);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (is_missing(table.rows[row][column])) continue;
    Random random(1, RandomStream::sample, row, 0);
    (random.uniform() < valid_share ? split.valid : split.train).push_back(row);
  }
  return split;
}

}  // namespace

struct TableOptions : RecipeOptions {
  std::string path, valid, target;
  std::vector<std::string> without, copied;
  double valid_share = 0.2, dropout = 0.1;
  std::int64_t width = 64;
  bool balance = false;

  TableOptions() {
    table.add("data.path", path, {.meaning = "CSV file to train on", .is_path = true});
    table.add("data.valid", valid,
              {.meaning = "CSV file to validate on; empty: a share of data.path", .is_path = true});
    table.add("data.valid_share", valid_share,
              {.meaning = "of the rows, without data.valid", .min = 0, .max = 0.9});
    table.add("data.target", target, {.meaning = "column that is predicted"});
    table.add("data.without", without, {.meaning = "columns to leave out, such as an id"});
    table.add("data.balance", balance, {.meaning = "draw all classes equally often"});
    table.add("model.width", width, {.meaning = "units of a hidden layer", .min = 1, .max = 65536});
    table.add("model.dropout", dropout, {.meaning = "of hidden units", .min = 0, .max = 0.9});
    table.add("predict.copy", copied, {.meaning = "columns to copy into predictions.csv"});
    add_item_options();
  }
  void defaults(TrainOptions& train, bool) const override {
    train.batch.global = 24;
    train.stop.epochs = 30;
    train.optimizer.lr = 3e-3;
  }
  bool low_precision() const override { return true; }
  std::vector<std::string> metric_names() const override { return {"accuracy", "f1"}; }

  // Learns the encoding at a run's first start. Afterwards it is that of the run, whatever the
  // data are now: it was copied into the run, and `lockstep export` takes it along.
  Prepared prepare(const PrepareContext& context) override {
    Prepared prepared;
    const fs::path kept = context.run_dir / "recipe" / kept_file;
    if (!context.run_dir.empty() && fs::exists(kept)) {
      prepared.extra = nlohmann::json::parse(read_file(kept));
    } else {
      if (path.empty()) throw Error("data.path is empty", "name a CSV file: data.path=FILE");
      if (target.empty())
        throw Error("data.target is empty", "name the column to predict: data.target=NAME");
      const CsvTable all = read_csv(path);
      const Split split = split_rows(all, target, valid.empty() ? valid_share : 0);
      prepared.extra = to_json(learn(all, split.train, target, without));
      const std::string text = prepared.extra.dump(2);
      Hasher hash;
      hash.update(text);
      const fs::path folder = context.cache_dir / hash.hex();
      make_directories(folder);
      write_file_atomic(folder / kept_file, text);
      prepared.keep = {folder / kept_file};
    }
    const Encoding encoding = encoding_from(prepared.extra);
    if (context.say)
      context.say(cat(encoding.classes.size(), " classes of ", encoding.target, " (",
                      join(encoding.classes, ", "), "), ", encoding.features(), " features"));
    return prepared;
  }

  PredictInput predict_input() const override {
    return {.kind = PredictInput::Kind::files,
            .suffixes = {".csv", ".tsv"},
            .joint_outputs = {"predictions.csv"},
            .batch = 256};
  }
  // Files are given, but rows are the items, so that all devices share a file.
  std::vector<PredictItem> items(const ItemQuery& query) const override {
    const Encoding encoding =
        encoding_from(nlohmann::json::parse(read_file(query.run_dir / "recipe" / kept_file)));
    std::vector<PredictItem> rows;
    for (const PredictItem& file : list_items(predict_input(), query)) {
      if (!file.fault.empty()) {  // it is skipped, and the rest is not
        rows.push_back(file);
        rows.back().index = static_cast<std::int64_t>(rows.size()) - 1;
        continue;
      }
      const CsvTable cells = read_csv(file.path);
      for (std::size_t row = 0; row < cells.rows.size(); ++row) {
        nlohmann::json text{{"cells", encoding.cells_of(cells, row)},
                            {"line", cells.lines[row]},
                            {"copied", nlohmann::json::array()}};
        for (const std::string& column : copied)
          text["copied"].push_back(cells.rows[row][cells.column(column)]);
        rows.push_back(
            {.index = static_cast<std::int64_t>(rows.size()),
             .name = cells.place(row),
             .id = cat(file.id, ":", cells.lines[row]),
             .path = file.path,
             .text = text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)});
      }
    }
    return rows;
  }
};

// sample: features f32 [features], class i64 []
struct Rows : Dataset {
  Rows(const Encoding& encoding, const CsvTable& table, const std::vector<std::size_t>& rows,
       bool balance)
      : balance(balance), classes(encoding.classes.size()) {
    for (const std::size_t row : rows) {
      try {
        features.push_back(encoding.encode(encoding.cells_of(table, row)));
      } catch (const Error& error) {
        throw Error(cat(table.place(row), ": ", error.what()), error.hint());
      }
      labels.push_back(encoding.class_of(table, row));
      lines.push_back(table.lines[row]);
    }
  }
  std::int64_t size() const override { return static_cast<std::int64_t>(labels.size()); }
  std::vector<at::Tensor> get(std::int64_t i, SampleContext&) const override {
    return {torch::tensor(features[i]), torch::tensor(labels[i])};
  }
  std::vector<double> sample_weights() const override {
    if (!balance) return {};
    std::vector<double> count(classes), weights;
    for (const std::int64_t label : labels) ++count[label];
    for (const std::int64_t label : labels) weights.push_back(1 / count[label]);
    return weights;
  }
  bool balance;
  std::size_t classes;
  std::vector<std::vector<float>> features;
  std::vector<std::int64_t> labels, lines;
};

struct NetImpl : nn::Module {
  NetImpl(std::int64_t in, std::int64_t width, std::int64_t out, double dropout)
      : first(register_module("first", nn::Linear(in, width))),
        second(register_module("second", nn::Linear(width, width))),
        head(register_module("head", nn::Linear(width, out))),
        dropout(dropout) {}
  at::Tensor forward(at::Tensor x, const StepContext& context) {
    x = context.dropout(torch::gelu(first(x)), dropout, /*layer=*/0);
    x = context.dropout(torch::gelu(second(x)), dropout, /*layer=*/1);
    return head(x);
  }
  nn::Linear first, second, head;
  double dropout;
};
using Net = NnModel<NetImpl>;

// A line per row, in the order of the inputs.
struct PredictionsFile : PredictionWriter {
  PredictionsFile(JointOutputs& outputs, const Encoding& encoding,
                  const std::vector<std::string>& copied)
      : file(outputs.open("predictions.csv")) {
    std::vector<Cell> names{"file", "line"};
    names.insert(names.end(), copied.begin(), copied.end());
    names.emplace_back(encoding.target);
    for (const std::string& word : encoding.classes) names.emplace_back("p(" + word + ")");
    file.write(csv_line(names));
  }
  void add(const PredictItem&, std::string_view line) override { file.write(line); }
  void finish() override {}
  JointOutput& file;
};

struct TableRecipe : Recipe {
  TableRecipe(const TableOptions& options, const Prepared& prepared)
      : path(options.path),
        valid(options.valid),
        copied(options.copied),
        valid_share(options.valid_share),
        dropout(options.dropout),
        width(options.width),
        balance(options.balance),
        encoding(encoding_from(prepared.extra)) {}

  std::unique_ptr<Model> build(std::uint64_t seed) override {
    torch::manual_seed(seed);
    return std::make_unique<Net>(
        std::make_shared<NetImpl>(static_cast<std::int64_t>(encoding.features()), width,
                                  static_cast<std::int64_t>(encoding.classes.size()), dropout));
  }
  DatasetPair data() override {
    const CsvTable all = read_csv(path);
    const Split split = split_rows(all, encoding.target, valid.empty() ? valid_share : 0);
    const auto train = std::make_shared<Rows>(encoding, all, split.train, balance);
    if (valid.empty())
      rows = std::make_shared<Rows>(encoding, all, split.valid, false);
    else
      rows = rows_of(read_csv(valid));
    return {train, rows};
  }
  std::shared_ptr<Rows> rows_of(const CsvTable& table) const {
    return std::make_shared<Rows>(encoding, table, split_rows(table, encoding.target, 0).train,
                                  false);
  }

  at::Tensor logits(Model& model, const at::Tensor& features, const StepContext& context) {
    return dynamic_cast<Net&>(model)
        .module()
        .forward(features.to(context.compute_dtype), context)
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

  // A record: class, then the probability of each.
  at::Tensor evaluate(Model& model, const Batch& batch, StepContext& context) override {
    const at::Tensor shares = logits(model, batch.tensors[0], context).softmax(1);
    return torch::cat({batch.tensors[1].unsqueeze(1).to(torch::kFloat), shares}, 1);
  }
  // [classes, classes] rows counted by their class and what was predicted.
  std::vector<std::vector<double>> confusion(const Records& records) const {
    const std::size_t n = encoding.classes.size();
    std::vector<std::vector<double>> counts(n, std::vector<double>(n));
    for (std::int64_t i = 0; i < records.size(); ++i)
      ++counts[static_cast<std::size_t>(records[i][0].item<double>())]
              [static_cast<std::size_t>(records[i].slice(0, 1).argmax().item<std::int64_t>())];
    return counts;
  }
  std::vector<Metric> metrics(const Records& records) const override {
    const auto counts = confusion(records);
    double right = 0, all = 0, f1 = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      double row = 0, column = 0;
      for (std::size_t j = 0; j < counts.size(); ++j) row += counts[i][j], column += counts[j][i];
      right += counts[i][i];
      all += row;
      if (row + column > 0) f1 += 2 * counts[i][i] / (row + column);
    }
    return {{"accuracy", right / std::max(all, 1.0), "", /*lower_is_better=*/false},
            {"f1", f1 / static_cast<double>(counts.size()), "", /*lower_is_better=*/false}};
  }
  ItemTable items(const Records& records, EvaluationOutput& output) const override {
    ItemTable table{.columns = {"line", encoding.target, "predicted", "probability", "right"}};
    for (std::int64_t i = 0; i < records.size(); ++i) {
      const at::Tensor shares = records[i].slice(0, 1);
      const auto truth = static_cast<std::size_t>(records[i][0].item<double>());
      const auto best = static_cast<std::size_t>(shares.argmax().item<std::int64_t>());
      table.rows.push_back({rows->lines[static_cast<std::size_t>(i)], encoding.classes[truth],
                            encoding.classes[best], shares.max().item<double>(), truth == best});
    }
    ItemTable counts{.columns = {encoding.target}};
    for (const std::string& word : encoding.classes) counts.columns.push_back("as " + word);
    const auto numbers = confusion(records);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      counts.rows.push_back({encoding.classes[i]});
      for (const double count : numbers[i])
        counts.rows.back().emplace_back(static_cast<std::int64_t>(count));
    }
    output.table("confusion", counts);
    return table;
  }

  std::vector<ItemOutput> predict_items(Model& model, const std::vector<PredictItem>& items,
                                        const ItemContext& context) override {
    std::vector<at::Tensor> features;
    for (const PredictItem& item : items)
      features.push_back(
          torch::tensor(encoding.encode(nlohmann::json::parse(item.text).at("cells"))));
    const StepContext step = prediction_context(context);
    const at::Tensor shares =
        logits(model, torch::stack(features).to(context.device), step).softmax(1).cpu();
    std::vector<ItemOutput> outputs;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto text = nlohmann::json::parse(items[i].text);
      const at::Tensor share = shares[static_cast<std::int64_t>(i)];
      std::vector<Cell> cells{fs::path(items[i].path).filename().string(),
                              text.at("line").get<std::int64_t>()};
      for (const std::string copy : text.at("copied")) cells.emplace_back(copy);
      cells.emplace_back(
          encoding.classes[static_cast<std::size_t>(share.argmax().item<std::int64_t>())]);
      for (std::size_t k = 0; k < encoding.classes.size(); ++k)
        cells.emplace_back(share[static_cast<std::int64_t>(k)].item<double>());
      outputs.push_back({.bytes = csv_line(cells)});
    }
    return outputs;
  }
  std::unique_ptr<PredictionWriter> prediction_writer(JointOutputs& outputs) override {
    return std::make_unique<PredictionsFile>(outputs, encoding, copied);
  }

  std::string path, valid;
  std::vector<std::string> copied;
  double valid_share, dropout;
  std::int64_t width;
  bool balance;
  Encoding encoding;
  std::shared_ptr<Rows> rows;  // of validation
};

LOCKSTEP_PLUGIN("table", "tells the classes of a table's rows", TableOptions, TableRecipe)
