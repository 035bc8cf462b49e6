// The half of a recipe that needs no LibTorch: its name, its options, the sizes of its data, and
// its memory formula. With it, the tool can check and plan everything before a worker starts.
#pragma once

#include "core/config/options.h"
#include "planning/options/train_options.h"
#include "planning/order/predict_items.h"
#include "planning/plan.h"

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class Purpose { plan, train, evaluate, predict };

// Where a recipe may store prepared data, and how it reports progress.
struct PrepareContext {
  Purpose purpose = Purpose::train;
  std::filesystem::path cache_dir;  // prepared data, keyed by content; shared by all runs
  std::filesystem::path run_dir;    // for evaluate, predict and resume: the run to read from
  std::function<void(const std::string&)> say;  // prints progress; one line, without newline
};

// The result of preparation. `extra` is recorded in run.json and passed to the worker unchanged.
struct Prepared {
  Facts facts;
  nlohmann::json extra = nlohmann::json::object();
  std::vector<std::filesystem::path>
      keep;  // files to copy into RUN/recipe/ when the run is created
  // A hash of all data that training and validation read, independent of its path. Runs with the
  // same hash used the same data. Empty if unknown.
  std::string data_hash{};
  // A hash of contents that data_hash does not cover, such as those of pictures. Runs of older
  // versions have no such hash; comparisons then use data_hash alone. Empty if unknown.
  std::string data_contents{};
  // The effective values of options where 0 means "chosen from the data": {"episode.n_way": 5}. Two
  // runs are equal in such an option if their effective values are equal.
  nlohmann::json used = nlohmann::json::object();
};

// A number that rates outputs.
struct Score {
  std::string name;  // "mean_dice"
  double value = 0;
  std::string unit{};
  bool lower_is_better = false;
};

// The input of `score`, which rates existing outputs.
struct ScoreContext {
  std::filesystem::path predictions;            // predictions=PATH: an existing file or folder
  std::function<void(const std::string&)> say;  // prints progress; one line, without newline
};

// Data and models that a recipe contains. It uses them if the user names no data and no model.
struct BuiltIn {
  std::string what;  // "synthetic sentences and a small BERT"
  // options with which users name their own: "data.path=FILE model.path=FOLDER"
  std::string options;
};

// Base class of the options of a recipe. The derived class holds the fields, and binds them to
// `table` in its constructor. Presets may also set options of the engine, such as batch.global.
class RecipeOptions {
 public:
  RecipeOptions() = default;
  virtual ~RecipeOptions();
  RecipeOptions(const RecipeOptions&) = delete;
  RecipeOptions& operator=(const RecipeOptions&) = delete;

  // Changes defaults of the engine's options for this recipe. It is called before any configuration
  // is applied.
  virtual void defaults(TrainOptions& train, bool has_gpu) const;
  // Throws Error if options contradict each other.
  virtual void check(const TrainOptions& train) const;
  // Reads and prepares data without LibTorch. Two processes may call it at once. Throws Error if
  // the data cannot be read or prepared. The default returns train_samples = 0; the worker then
  // takes the sizes from Recipe::data.
  virtual Prepared prepare(const PrepareContext& context);
  // The names that Recipe::metrics may return. With them, checkpoint.best_metric is checked before
  // a run exists. The default returns none, which means that the names are not known yet.
  virtual std::vector<std::string> metric_names() const;
  // Whether the model also runs with parameters in bf16 and fp16. Its forward pass must then cast
  // floating-point inputs to StepContext::compute_dtype. If true, precision = auto may choose these
  // types.
  virtual bool low_precision() const { return false; }
  // The built-in data and model that these options would use. A plan then reports that its numbers
  // are for them. The default returns nothing.
  virtual std::optional<BuiltIn> built_in() const;
  // The bytes that one rank needs. options.precision must not be auto. The default computes them
  // from the parameters in `facts` alone.
  virtual MemoryEstimate memory(const TrainOptions& train, const Facts& facts) const;

  // Model FLOPs of one training sample, forward and backward. Only operations that the mathematics
  // of the model needs count, so recomputation does not (PaLM, arXiv:2204.02311, appendix B).
  // Called after `prepare`. The default returns nothing, and MFU is then unknown.
  virtual std::optional<double> flops_per_sample(const Facts& facts) const;

  // Prepares an export, which may be given to others. Removes paths of this machine from `extra`
  // and from `kept`, which maps names of kept files to their contents. Evaluation and prediction
  // must work without these paths, because their users name the data again. The default looks at
  // each text in `extra` that is an absolute path in an existing folder. It shortens such a text to
  // its last component.
  virtual void forget_places(nlohmann::json& extra, std::map<std::string, std::string>& kept) const;

  // The INPUT that `lockstep predict RUN INPUT` takes. By default, INPUT is a text for the option
  // predict.prompt, if the recipe has that option.
  virtual PredictInput predict_input() const;
  // Returns the items to predict, without LibTorch. Throws Error if there is no valid item. The
  // default lists query.inputs.
  virtual std::vector<PredictItem> items(const ItemQuery& query) const;

  // Whether the recipe has `score`. The command `lockstep score RECIPE predictions=PATH …` calls it
  // without LibTorch, without a run and without `prepare`. The recipe's options name the ground
  // truth. KEY without a group means score.KEY if the table has that option. `score` throws Error
  // if it cannot rate the outputs. The default always throws Error, and names the recipes that can
  // score.
  virtual bool can_score() const { return false; }
  virtual std::vector<Score> score(const ScoreContext& context);

  OptionTable table;

  // The fields of predict.input, predict.out and predict.also, for a recipe that predicts items.
  struct ItemOptions {
    std::vector<std::string> input;
    std::string out;
    std::vector<std::string> also;
  } item_options;

 protected:
  // Adds the fields of item_options to the table. The constructor of a recipe must call it if
  // PredictInput::has_items() is true. paths: whether an input is a file or folder instead of a
  // word.
  void add_item_options(bool paths = true);
};

inline constexpr const char* input_key = "predict.input";
inline constexpr const char* out_key = "predict.out";
inline constexpr const char* also_key = "predict.also";

// Checks checkpoint.best_metric. Throws Error with the nearest name if no metric is named `wanted`.
void check_best_metric(const std::vector<std::string>& names, const std::string& wanted);

struct RecipeInfo {
  std::string name;
  std::string summary;  // one line for help
  std::function<std::unique_ptr<RecipeOptions>()> make_options;
};

// The registry of all recipes in this program, built in or loaded from plugins.
void register_recipe(RecipeInfo info);
const std::vector<RecipeInfo>& recipes();
// Throws Error for an unknown name, and suggests the nearest one.
const RecipeInfo& find_recipe(const std::string& name);

}  // namespace lockstep
