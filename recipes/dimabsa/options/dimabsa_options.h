// The options of the dimabsa recipe, and values that are computed from the options alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planning/options/prepared_options.h"
#include "recipes/dimabsa/options/encoder_shape.h"
#include "recipes/dimabsa/sentences/scores/va.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

enum class NotFound { null, refuse };

struct DimabsaOptions : PreparedOptions<DimabsaOptions> {
  DimabsaOptions();  // adds the options to `table`

  std::int64_t task_number = 2;  // the option `task`
  struct {
    // A model folder in Hugging Face's format. If empty, a small BERT is trained from random
    // weights.
    std::string path;
    // The sizes of the small BERT that is trained from random weights.
    std::int64_t width = 64, layers = 2, heads = 4, vocabulary = 2000;
    double dropout = 0;
    // The factor by which optimizer.lr is multiplied for the encoder. 0 means 0.01 if model.path is
    // set, and 3 if not.
    double encoder_rate = 0;
  } model;
  struct {
    std::string path;  // empty: generated sentences
    std::string valid_path;
    double valid_share = 0.2;
    std::int64_t split_seed = 42;
    // A file with one category per line. If empty, the categories are those that occur in the data.
    std::string categories;
    std::string language, domain;
    NotFound not_found = NotFound::null;
    OutOfRange out_of_range = OutOfRange::refuse;
    std::int64_t cut = 256;  // largest number of word pieces of a text
  } data;
  struct {
    double category = 1, valence = 0.2, arousal = 0.2, span_weight = 3;
  } loss;
  // Options of decoding, which also apply to evaluation. These options may differ from those of an
  // existing run.
  struct {
    double beta = 0.9, threshold = 0.5;
    std::int64_t most = 32;
    bool apart = true;
    std::string submission;
    // Language and domain for the names of output files. If empty, they come from the name of the
    // input file or of the data file.
    std::string language, domain;
  } predict;

  Task task() const { return static_cast<Task>(task_number); }
  bool made() const { return data.path.empty(); }
  // Returns whether the command or an options file sets the option `key`. Returns false if the
  // value comes from a run's record, a preset or a default.
  bool is_asked_for(std::string_view key) const;
  // The shape of the small BERT that is trained from random weights.
  EncoderShape small_shape(std::int64_t vocabulary, std::int64_t positions) const;
  // Returns the file for the predictions of an input file, relative to the folder of outputs. An
  // example is "subtask_2/pred_eng_laptop.jsonl".
  std::string prediction_file(const std::string& input) const;
  // Returns the prediction files of all input files, each once. If there are no input files,
  // returns the prediction file for the validation sentences.
  std::vector<std::string> prediction_files() const;

  void defaults(TrainOptions& train, bool has_gpu) const override;
  void check(const TrainOptions& train) const override;
  Prepared prepare(const PrepareContext& context) override;
  std::vector<std::string> metric_names() const override;
  bool low_precision() const override { return true; }
  std::optional<BuiltIn> built_in() const override;
  MemoryEstimate memory(const TrainOptions& train, const Facts& facts) const override;
  std::optional<double> flops_per_sample(const Facts& facts) const override;
  PredictInput predict_input() const override;
  bool can_score() const override { return true; }

 private:
  // Sets data.language and data.domain from the name of the data file. An option that is not empty
  // is left as it is.
  void name_data();
  nlohmann::json prepared_;  // the member Prepared::extra of the result of prepare()
};

// Returns model.encoder_rate. If that is 0, returns its default, which depends on model.path.
double encoder_rate(const DimabsaOptions& options);

// Returns the number of parameters of the heads, without the encoder.
std::int64_t head_parameters(Task task, std::int64_t width, std::int64_t categories);

const std::vector<Preset>& presets();
std::vector<Synonym> synonyms();  // names that other programs use for these options

}  // namespace lockstep::dimabsa

namespace lockstep {

template <>
struct EnumNames<dimabsa::NotFound> {
  static constexpr std::pair<dimabsa::NotFound, const char*> value[] = {
      {dimabsa::NotFound::null, "null"}, {dimabsa::NotFound::refuse, "refuse"}};
};

template <>
struct EnumNames<dimabsa::OutOfRange> {
  static constexpr std::pair<dimabsa::OutOfRange, const char*> value[] = {
      {dimabsa::OutOfRange::refuse, "refuse"},
      {dimabsa::OutOfRange::clip, "clip"},
      {dimabsa::OutOfRange::skip, "skip"},
      {dimabsa::OutOfRange::keep, "keep"}};
};

}  // namespace lockstep
