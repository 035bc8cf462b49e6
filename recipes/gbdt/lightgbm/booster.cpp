#include "recipes/gbdt/lightgbm/booster.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/gbdt/lightgbm/one_thread.h"

namespace lockstep::gbdt {
namespace {

constexpr int float32 = 0, float64 = 1, int32 = 2;  // the values of C_API_DTYPE_… in LightGBM

// Owns a LightGBM dataset or booster and frees it through the library.
class Owned {
 public:
  explicit Owned(int (*release)(void*)) : release_(release) {}
  ~Owned() {
    if (handle_ != nullptr) release_(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  void* get() const { return handle_; }
  void** out() { return &handle_; }

 private:
  void* handle_ = nullptr;
  int (*release_)(void*);
};

// LightGBM refuses the special characters of JSON, replaces spaces by _, and needs unique names.
// Its model file contains these changed names. Other code uses the original names.
std::vector<std::string> names_for_library(std::span<const std::string> names) {
  std::vector<std::string> safe;
  std::set<std::string> taken;
  for (std::string name : names) {
    std::replace_if(
        name.begin(), name.end(),
        [](char c) {
          return static_cast<unsigned char>(c) <= ' ' ||
                 std::string_view("\",:[]{}").find(c) != std::string_view::npos;
        },
        '_');
    std::string once = name;
    for (int i = 2; !taken.insert(once).second; ++i) once = cat(name, "_", i);
    safe.push_back(std::move(once));
  }
  return safe;
}

void fill_dataset(const LightGbm& library, const Rows& rows, const TrainRequest& request,
                  const std::string& parameters, void* reference, Owned& dataset) {
  const LightGbmApi& api = library.api();
  library.check(api.dataset_from_matrix(rows.values.data(), float64, rows.rows(), rows.columns, 1,
                                        parameters.c_str(), reference, dataset.out()),
                "taking rows over");
  library.check(
      api.dataset_set_field(dataset.get(), "label", rows.labels.data(), rows.rows(), float32),
      "taking labels over");
  if (!rows.groups.empty())
    library.check(api.dataset_set_field(dataset.get(), "group", rows.groups.data(),
                                        static_cast<int>(rows.groups.size()), int32),
                  "taking groups over");
  if (reference != nullptr || request.names.empty()) return;
  const std::vector<std::string> safe = names_for_library(request.names);
  std::vector<const char*> names;
  for (const std::string& name : safe) names.push_back(name.c_str());
  library.check(api.dataset_set_names(dataset.get(), names.data(), static_cast<int>(names.size())),
                "taking names over");
}

// LightGBM writes the names of metrics into buffers of the caller.
std::string first_metric(const LightGbm& library, void* booster) {
  int count = 0;
  library.check(library.api().booster_eval_count(booster, &count), "counting metrics");
  if (count == 0) return "";
  std::vector<std::array<char, 128>> texts(static_cast<std::size_t>(count));
  std::vector<char*> names;
  for (auto& text : texts) names.push_back(text.data());
  std::size_t needed = 0;
  library.check(library.api().booster_eval_names(booster, count, &count, texts[0].size(), &needed,
                                                 names.data()),
                "naming metrics");
  return names[0];
}

bool more_is_better(const std::string& metric) {
  for (const char* name : {"auc", "ndcg", "map@", "average_precision", "r2"})
    if (metric.starts_with(name)) return true;
  return false;
}

// Remembers the best value of a metric for early stopping.
class Patience {
 public:
  Patience(std::string metric, std::int64_t iterations)
      : more_(more_is_better(metric)), patience_(iterations) {}

  // Whether training should stop after this iteration (from 1).
  bool stops(std::int64_t iteration, double value) {
    const bool first = best_ == 0 || (std::isnan(best_value_) && !std::isnan(value));
    if (first || (more_ ? value > best_value_ : value < best_value_)) {
      best_ = iteration;
      best_value_ = value;
    }
    return patience_ > 0 && iteration - best_ >= patience_;
  }
  std::int64_t best() const { return best_; }

 private:
  bool more_;
  std::int64_t patience_, best_ = 0;
  double best_value_ = 0;
};

double evaluate_first(const LightGbm& library, void* booster) {
  int count = 0;
  library.check(library.api().booster_eval_count(booster, &count), "counting metrics");
  std::vector<double> values(static_cast<std::size_t>(count));
  library.check(library.api().booster_eval(booster, 1, &count, values.data()), "evaluating");
  return values.at(0);
}

// Saves the model again if the buffer was too small for it.
std::string save(const LightGbm& library, void* booster, std::int64_t iterations) {
  std::string text(1 << 18, '\0');
  for (;;) {
    std::int64_t needed = 0;
    library.check(
        library.api().booster_save(booster, 0, static_cast<int>(iterations), 0,
                                   static_cast<std::int64_t>(text.size()), &needed, text.data()),
        "saving the model");
    const bool fits = needed <= static_cast<std::int64_t>(text.size());
    text.resize(static_cast<std::size_t>(needed));
    if (!fits) continue;
    text.pop_back();  // removes the NUL at the end
    return text;
  }
}

// LightGBM keeps the device of its first training in a global variable of the process.
void check_device(const std::string& device) {
  static std::atomic<int> first{0};
  const int wanted = device == "cuda" ? 2 : 1;
  int expected = 0;
  if (first.compare_exchange_strong(expected, wanted) || expected == wanted) return;
  throw Error("LightGBM cannot train on the CPU and by CUDA in one process",
              "start a process for each");
}

std::int64_t trees_of(const LightGbm& library, void* booster) {
  int trees = 0;
  library.check(library.api().booster_trees(booster, &trees), "counting trees");
  return trees;
}

// Fills in all of `trained` but the model. Returns how many trees to keep.
std::int64_t run(const LightGbm& library, const TrainRequest& request, void* booster,
                 bool validates, Trained& trained) {
  // Training ends after this many iterations in a row without a split, because other samples of
  // rows and columns will not help either.
  constexpr int most_unsplit = 50;
  if (validates) trained.metric = first_metric(library, booster);
  const bool watched = !trained.metric.empty();
  Patience patience(trained.metric, request.patience);
  std::int64_t last_grown = 0, best_trees = 0;
  for (int unsplit = 0; trained.iterations < request.iterations;) {
    int finished = 0;
    library.check(library.api().booster_update(booster, &finished), "training");
    ++trained.iterations;
    unsplit = finished != 0 ? unsplit + 1 : 0;
    if (finished == 0) last_grown = trained.iterations;
    if (watched) {
      trained.curve.push_back(evaluate_first(library, booster));
      const bool stops = patience.stops(trained.iterations, trained.curve.back());
      if (patience.best() == trained.iterations) best_trees = trees_of(library, booster);
      if (stops) trained.end = TrainEnd::patience;
    }
    if (unsplit >= most_unsplit) trained.end = TrainEnd::no_split;
    if (trained.end != TrainEnd::iterations) break;
  }
  const bool best = watched && request.patience > 0 && last_grown > 0;
  trained.best_iteration = best ? patience.best() : last_grown;
  return best ? best_trees : trees_of(library, booster);
}

}  // namespace

const char* to_string(TrainEnd end) {
  switch (end) {
    case TrainEnd::iterations:
      return "all iterations";
    case TrainEnd::patience:
      return "early stopping";
    case TrainEnd::no_split:
      return "no more splits";
  }
  return "";
}

Trained train_model(const LightGbm& library, const TrainRequest& request) {
  check_device(value_of(request.parameters, "device_type", "cpu"));
  const std::string parameters = parameter_text(request.parameters);
  const LightGbmApi& api = library.api();
  const OneThread one_thread(value_of(request.parameters, "num_threads", "") == "1");
  const bool validates = request.valid != nullptr && request.valid->rows() > 0;
  Owned train(api.dataset_free), valid(api.dataset_free), booster(api.booster_free);
  fill_dataset(library, *request.train, request, parameters, nullptr, train);
  if (validates) fill_dataset(library, *request.valid, request, parameters, train.get(), valid);
  library.check(api.booster_create(train.get(), parameters.c_str(), booster.out()),
                "making a model");
  if (validates)
    library.check(api.booster_add_valid(booster.get(), valid.get()), "taking validation rows over");
  Trained trained;
  const std::int64_t trees = run(library, request, booster.get(), validates, trained);
  trained.model = save(library, booster.get(), trees);
  return trained;
}

Model::Model(const LightGbm& library, const std::string& text) : library_(library) {
  int iterations = 0;
  library.check(library.api().booster_load(text.c_str(), &iterations, &booster_),
                "reading a model");
  library.check(library.api().booster_features(booster_, &columns_), "reading a model");
  outputs_ = outputs_of_model(text);
}

Model::~Model() { library_.api().booster_free(booster_); }

std::vector<double> Model::predict(std::span<const double> values, std::int32_t columns,
                                   int threads) const {
  if (columns != columns_)
    throw Error(
        cat("the model was trained on ", columns_, " columns, but the rows have ", columns));
  const std::size_t rows = values.size() / static_cast<std::size_t>(columns);
  std::vector<double> result(rows * static_cast<std::size_t>(outputs_));
  if (result.empty()) return result;
  std::int64_t count = 0;
  const OneThread one_thread(threads == 1);
  const std::string parameters = cat("num_threads=", threads);
  library_.check(library_.api().booster_predict(booster_, values.data(), float64,
                                                static_cast<std::int32_t>(rows), columns, 1, 0, 0,
                                                -1, parameters.c_str(), &count, result.data()),
                 "predicting");
  return result;
}

std::vector<double> Model::importance(int kind) const {
  std::vector<double> result(static_cast<std::size_t>(columns_));
  library_.check(library_.api().booster_importance(booster_, -1, kind, result.data()),
                 "weighing columns");
  return result;
}

std::vector<double> Model::split_importance() const { return importance(0); }
std::vector<double> Model::gain_importance() const { return importance(1); }

}  // namespace lockstep::gbdt
