// Predicts the sentences of files.
#include "core/base/text/text.h"
#include "core/media/zip_writer.h"
#include "recipes/dimabsa/model/as_sentence.h"
#include "recipes/dimabsa/model/recipe.h"
#include "recipes/dimabsa/sentences/files/writer.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace lockstep::dimabsa {
namespace {

// Writes a file pred_LANG_DOMAIN.jsonl for each language and domain, and an archive with these
// files.
class Predictions : public PredictionWriter {
 public:
  Predictions(JointOutputs& outputs, const std::vector<std::string>& names,
              const std::string& submission) {
    for (const std::string& name : names) files_[name].lines = &outputs.open(name);
    if (!submission.empty()) zip_ = std::make_unique<ZipWriter>(outputs.open(submission).path());
  }
  void add(const PredictItem& item, std::string_view bytes) override {
    File& file = files_.at(nlohmann::json::parse(item.text).at(file_key).get<std::string>());
    file.lines->write(bytes);
    if (zip_) file.all += bytes;
  }
  void finish() override {
    if (!zip_) return;
    for (const auto& [name, file] : files_) zip_->add(name, file.all, ZipMethod::store);
    zip_->finish();
  }

 private:
  struct File {
    JointOutput* lines = nullptr;
    std::string all;  // the content for the archive
  };

  std::map<std::string, File> files_;  // keyed by name
  std::unique_ptr<ZipWriter> zip_;
};

}  // namespace

std::vector<ItemOutput> DimabsaRecipe::predict_items(Model& model,
                                                     const std::vector<PredictItem>& items,
                                                     const ItemContext& context) {
  std::vector<EncodedSentence> sentences;
  for (const PredictItem& item : items)
    sentences.push_back(sentence_from_json(nlohmann::json::parse(item.text)));
  std::vector<const EncodedSentence*> pointers;
  for (const EncodedSentence& sentence : sentences) pointers.push_back(&sentence);
  const StepContext step = prediction_context(context);
  const auto found = TupleFinder(dynamic_cast<const Net&>(model), finder_, step).find(pointers);
  std::vector<ItemOutput> outputs;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    ItemOutput output;
    output.bytes =
        prediction_line(task_, as_sentence(task_, sentences[i], found[i], categories_)) + "\n";
    if (sentences[i].cut)
      output.warning = cat("its text is longer than ", sentences[i].size(),
                           " pieces (data.cut); the rest was not read");
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::unique_ptr<PredictionWriter> DimabsaRecipe::prediction_writer(JointOutputs& outputs) {
  return std::make_unique<Predictions>(outputs, prediction_files_, submission_);
}

}  // namespace lockstep::dimabsa
