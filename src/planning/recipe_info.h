// The half of a recipe that needs no LibTorch: its name, its option table, its data's facts and its
// memory formula, so that the tool checks and plans everything before a worker starts.
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

// Where a recipe may put what it prepares, and how it reports progress.
struct PrepareContext {
  Purpose purpose = Purpose::train;
  std::filesystem::path cache_dir;  // shared by runs; prepared data, keyed by content
  std::filesystem::path run_dir;    // set for evaluate, predict and resume: the run to read from
  std::function<void(const std::string&)> say;  // progress for people, one line, no newline
};

// The outcome of preparation. `extra` travels to the worker and into run.json unchanged.
struct Prepared {
  Facts facts;
  nlohmann::json extra = nlohmann::json::object();
  std::vector<std::filesystem::path>
      keep;  // files to copy into RUN/recipe/ when the run is created
  // Hash of all that training and validation read, wherever it lies: runs with the same one saw the
  // same data. "": not known.
  std::string data_hash{};
  // Hash of contents that data_hash leaves out, such as those of pictures. Runs of older versions
  // lack it: they compare by data_hash alone. "": not known.
  std::string data_contents{};
  // The effective values of options whose own value (0) means one that follows from the data:
  // {"episode.n_way": 5}. Comparisons treat such an option as equal if its effective values are
  // equal, whatever its own value.
  nlohmann::json used = nlohmann::json::object();
};

// A number that says how good outputs are.
struct Score {
  std::string name;  // "mean_dice"
  double value = 0;
  std::string unit{};
  bool lower_is_better = false;
};

// Existing outputs for `score`.
struct ScoreContext {
  std::filesystem::path predictions;            // predictions=PATH: an existing file or folder
  std::function<void(const std::string&)> say;  // progress for people, one line, no newline
};

// Data and models that a recipe takes where nothing names the user's own, in words.
struct BuiltIn {
  std::string what;     // "synthetic sentences and a small BERT"
  std::string options;  // that name the user's own: "data.path=FILE model.path=FOLDER"
};

// Base of a recipe's option struct. Fields live in the derived struct, bound to `table` in its
// constructor. Presets may also set engine options ("batch.global").
class RecipeOptions {
 public:
  RecipeOptions() = default;
  virtual ~RecipeOptions();
  RecipeOptions(const RecipeOptions&) = delete;
  RecipeOptions& operator=(const RecipeOptions&) = delete;

  // Changes defaults of engine options for this recipe (before config is applied).
  virtual void defaults(TrainOptions& train, bool has_gpu) const;
  // Cross-option checks; throws Error.
  virtual void check(const TrainOptions& train) const;
  // Reads and prepares data; torch-free; safe if two processes do it at once. Throws Error. The
  // default knows nothing: facts with train_samples = 0, which the worker then fills from
  // Recipe::data.
  virtual Prepared prepare(const PrepareContext& context);
  // Names that Recipe::metrics may give, so that checkpoint.best_metric is checked before a run
  // exists. The default, none, means that they are not known yet.
  virtual std::vector<std::string> metric_names() const;
  // Whether the model also runs with parameters in bf16 and fp16, so that precision = auto may
  // choose them: its forward pass casts floating inputs to StepContext::compute_dtype.
  virtual bool low_precision() const { return false; }
  // The data and the model that these options take from the recipe, so that a plan says that its
  // numbers are for them. The default: nothing.
  virtual std::optional<BuiltIn> built_in() const;
  // Bytes of one rank, with options.precision already resolved. The default uses Facts::parameters
  // alone.
  virtual MemoryEstimate memory(const TrainOptions& train, const Facts& facts) const;

  // Model FLOPs of one training sample, forward and backward. Counts what the mathematics of the
  // model needs, whatever the program does (no recomputation; PaLM, arXiv:2204.02311, appendix B).
  // Called after `prepare`. The default, nothing, makes MFU unknown.
  virtual std::optional<double> flops_per_sample(const Facts& facts) const;

  // For an export, which is given to others: removes the places of files on this machine from
  // `extra` and from `kept`, the contents of the kept files by name. Evaluation and prediction name
  // their data anew, and must work without these places. The default shortens each text in `extra`
  // that names something in an existing folder to its last part.
  virtual void forget_places(nlohmann::json& extra, std::map<std::string, std::string>& kept) const;

  // The INPUT that `lockstep predict RUN INPUT` takes. By default a text: the option
  // predict.prompt, if the recipe has it.
  virtual PredictInput predict_input() const;
  // The items to predict; torch-free. Throws Error. The default lists query.inputs.
  virtual std::vector<PredictItem> items(const ItemQuery& query) const;

  // Whether the recipe has `score`. `lockstep score RECIPE predictions=PATH …` calls it:
  // torch-free, without a run and without `prepare`. The options say where the truth lies. A bare
  // KEY means score.KEY if the table has that option. Throws Error; the default throws one that
  // names the recipes that can score.
  virtual bool can_score() const { return false; }
  virtual std::vector<Score> score(const ScoreContext& context);

  OptionTable table;

  // Fields of predict.input, predict.out and predict.also, in a recipe that predicts items.
  struct ItemOptions {
    std::vector<std::string> input;
    std::string out;
    std::vector<std::string> also;
  } item_options;

 protected:
  // Adds these fields to the table; to be called in the constructor of a recipe whose
  // `predict_input` has items. paths: an input is a file or folder, not a word.
  void add_item_options(bool paths = true);
};

inline constexpr const char* input_key = "predict.input";
inline constexpr const char* out_key = "predict.out";
inline constexpr const char* also_key = "predict.also";

// Throws Error, with the nearest name, unless a metric is named `wanted` (checkpoint.best_metric).
void check_best_metric(const std::vector<std::string>& names, const std::string& wanted);

struct RecipeInfo {
  std::string name;
  std::string summary;  // one line for help
  std::function<std::unique_ptr<RecipeOptions>()> make_options;
};

// All recipes this program knows, built in and loaded.
void register_recipe(RecipeInfo info);
const std::vector<RecipeInfo>& recipes();
// Throws Error naming the nearest.
const RecipeInfo& find_recipe(const std::string& name);

}  // namespace lockstep
