// BPE with sentencepiece. No other file of the recipe uses that library.
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <regex>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {
namespace {

constexpr std::string_view space_mark = "\xe2\x96\x81";  // U+2581 replaces a space

std::string with_spaces(std::string_view piece) {
  std::string text;
  while (!piece.empty()) {
    const bool space = piece.starts_with(space_mark);
    text += space ? ' ' : piece[0];
    piece.remove_prefix(space ? space_mark.size() : 1);
  }
  return text;
}

class BpeTokenizer : public Tokenizer {
 public:
  BpeTokenizer(const std::string& model, const std::string& where) : model_(model) {
    const auto status = processor_.LoadFromSerializedProto(model);
    if (!status.ok())
      throw Error(
          cat(where, " is not a sentencepiece model: ", status.ToString()),
          "set tokenizer.path to a .model file of sentencepiece, or leave it empty to train "
          "a vocabulary on the corpus");
    separator_ = processor_.eos_id() >= 0 ? processor_.eos_id() : processor_.bos_id();
    if (separator_ < 0)
      throw Error(cat(where, " has neither an end nor a begin token to stand between documents"),
                  "train the sentencepiece model with --eos_id");
  }

  std::string kind() const override { return "bpe"; }
  std::int64_t vocabulary() const override { return processor_.GetPieceSize(); }
  std::int64_t separator() const override { return separator_; }
  std::string piece(std::int64_t token) const override {
    const int id = static_cast<int>(token);
    if (processor_.IsControl(id)) return {};
    if (processor_.IsUnknown(id)) return "\xef\xbf\xbd";
    const std::string& text = processor_.IdToPiece(id);
    if (processor_.IsByte(id))
      return std::string(1, static_cast<char>(std::stoi(text.substr(3, 2), nullptr, 16)));
    return with_spaces(text);
  }
  std::unique_ptr<Encoder> encoder() const override;
  std::vector<std::pair<std::string, std::string>> files() const override {
    return {{"tokenizer.model", model_}};
  }
  const sentencepiece::SentencePieceProcessor& processor() const { return processor_; }

 private:
  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
  std::int64_t separator_ = -1;
};

class BpeEncoder : public Encoder {
 public:
  explicit BpeEncoder(const BpeTokenizer& tokenizer) : tokenizer_(tokenizer) {}
  void encode(std::string_view text, Tokens& out) override {
    const auto status =
        tokenizer_.processor().Encode(absl::string_view(text.data(), text.size()), &ids_);
    if (!status.ok())
      throw Error(cat("sentencepiece cannot encode a text: ", status.ToString()),
                  "try another tokenizer.kind, e.g. bytes");
    out.insert(out.end(), ids_.begin(), ids_.end());
  }

 private:
  const BpeTokenizer& tokenizer_;
  std::vector<int> ids_;
};

std::unique_ptr<Encoder> BpeTokenizer::encoder() const {
  return std::make_unique<BpeEncoder>(*this);
}

// Passes lines to the trainer one after the other.
class Lines : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ >= lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

[[noreturn]] void training_failed(const std::string& why, std::int64_t vocabulary) {
  std::smatch limit;
  if (std::regex_search(why, limit, std::regex("value <= ([0-9]+)")))
    throw Error(cat("tokenizer.vocab must be at most ", limit[1].str(),
                    " for this corpus, which has no more pieces, but is ", vocabulary),
                cat("set tokenizer.vocab=", limit[1].str(), " or less, or use a larger corpus"));
  if (std::regex_search(why, limit,
                        std::regex("smaller than required_chars[^0-9]*([0-9]+)[^0-9]+([0-9]+)")))
    throw Error(cat("tokenizer.vocab must be larger than the ", limit[2].str(),
                    " characters of the corpus, but is ", vocabulary),
                cat("set tokenizer.vocab to more than ", limit[2].str()));
  throw Error(cat("sentencepiece cannot train a vocabulary of ", vocabulary, ": ", why),
              "use a larger corpus, a smaller tokenizer.vocab, or tokenizer.kind=bytes");
}

}  // namespace

std::unique_ptr<Tokenizer> make_bpe_tokenizer(const std::string& model, const std::string& where) {
  return std::make_unique<BpeTokenizer>(model, where);
}

std::string train_bpe(const std::vector<std::string>& lines, std::int64_t vocabulary) {
  const std::unordered_map<std::string, std::string> options = {
      {"model_type", "bpe"},
      {"vocab_size", cat(vocabulary)},
      {"byte_fallback", "true"},
      {"character_coverage", "0.9999"},
      {"normalization_rule_name", "identity"},
      {"add_dummy_prefix", "false"},
      {"remove_extra_whitespaces", "false"},
      {"unk_id", "0"},
      {"eos_id", "1"},
      {"bos_id", "-1"},
      {"pad_id", "-1"},
      {"num_threads", "1"},
      {"input_sentence_size", "0"},
      {"shuffle_input_sentence", "false"},
      {"max_sentence_length", "65536"},
      {"minloglevel", "3"},
  };
  Lines iterator(lines);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(options, &iterator, &model);
  if (!status.ok()) training_failed(status.ToString(), vocabulary);
  return model;
}

}  // namespace lockstep::textgen
