// Every option of the dimabsa recipe, and what follows from the options alone.
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
  DimabsaOptions();  // fills `table`

  std::int64_t task_number = 2;  // the option `task`
  struct {
    // a folder as Hugging Face writes it; empty: trains a small BERT from random weights
    std::string path;
    // The sizes of the small BERT.
    std::int64_t width = 64, layers = 2, heads = 4, vocabulary = 2000;
    double dropout = 0;
    double encoder_rate = 0;  // a factor of optimizer.lr; 0: 0.01 with model.path, 3 without
  } model;
  struct {
    std::string path;  // empty: generated sentences
    std::string valid_path;
    double valid_share = 0.2;
    std::int64_t split_seed = 42;
    std::string categories;  // a file with one category per line; empty: those of the training data
    std::string language, domain;
    NotFound not_found = NotFound::null;
    OutOfRange out_of_range = OutOfRange::refuse;
    std::int64_t cut = 256;  // most pieces of a text
  } data;
  struct {
    double category = 1, valence = 0.2, arousal = 0.2, span_weight = 3;
  } loss;
  // Options of decoding, also in evaluation. They may change when a run is read.
  struct {
    double beta = 0.9, threshold = 0.5;
    std::int64_t most = 32;
    bool apart = true;
    std::string submission;
    std::string language, domain;  // for the names of outputs; empty: as the inputs or the data say
  } predict;

  Task task() const { return static_cast<Task>(task_number); }
  bool made() const { return data.path.empty(); }
  // Whether the command or its options file sets the option. False if its value comes from a
  // record, a preset or a default.
  bool is_asked_for(std::string_view key) const;
  // The shape of the encoder that is trained from random weights.
  EncoderShape small_shape(std::int64_t vocabulary, std::int64_t positions) const;
  // The file, below the folder of outputs, for the predictions of an input:
  // "subtask_2/pred_eng_laptop.jsonl".
  std::string prediction_file(const std::string& input) const;
  // The prediction files of all inputs, each once. If there are no inputs, the file for the data.
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
  // sets data.language and data.domain if the name of the data's file tells them
  void name_data();
  nlohmann::json prepared_;  // Prepared::extra, once `prepare` has run
};

// The encoder's learning rate, as a factor of optimizer.lr.
double encoder_rate(const DimabsaOptions& options);

// The number of parameters of the heads, without the encoder.
std::int64_t head_parameters(Task task, std::int64_t width, std::int64_t categories);

const std::vector<Preset>& presets();
std::vector<Synonym> synonyms();  // what other programs call these options

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
