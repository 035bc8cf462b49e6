#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece_folder.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/tokens/bert_folder.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::dimabsa {
namespace {

// Whether a name such as "XLMRobertaTokenizerFast" or "xlm-roberta" begins with the family's name.
// Case, "-" and "_" are ignored.
bool names_family(const std::string& name, std::string_view family) {
  std::string letters;
  for (const char c : name)
    if (c != '-' && c != '_')
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters.starts_with(family);
}

SentencePieceIds family_of(const std::string& name, bool is_spm, const std::string& where) {
  if (names_family(name, "xlmroberta")) return SentencePieceIds::xlm_roberta;
  if (names_family(name, "debertav2")) return SentencePieceIds::of_model;
  if (name.empty() || name == "PreTrainedTokenizerFast" || name == "TokenizersBackend")
    return is_spm ? SentencePieceIds::of_model : SentencePieceIds::xlm_roberta;
  throw Error(
      cat(where, " is the tokenizer of ", printable(name), ", whose ids are not known here"),
      "take a model of the BERT, XLM-R or DeBERTa-v3 family");
}

}  // namespace

SentencePieceSettings sentence_piece_settings(const std::filesystem::path& folder) {
  const auto text_of = [&](const char* name) -> std::optional<std::string> {
    std::error_code failed;
    if (!std::filesystem::exists(folder / name, failed)) return {};
    return read_file(folder / name, list_bytes);
  };
  const auto json_of = [&](const char* name) { return object_of(text_of(name), folder / name); };
  const nlohmann::json config = json_of("tokenizer_config.json");
  const bool is_spm = !std::filesystem::exists(folder / "sentencepiece.bpe.model");
  const std::filesystem::path file = folder / (is_spm ? "spm.model" : "sentencepiece.bpe.model");
  std::string family = text_or(json_of("config.json"), "model_type", "");
  if (family.empty()) family = text_or(config, "tokenizer_class", "");
  SentencePieceSettings settings{.model = read_file(file, list_bytes), .where = file};
  settings.ids = family_of(family, is_spm, file);
  if (is_true(config, "do_lower_case") || is_true(config, "split_by_punct"))
    throw Error(
        cat((folder / "tokenizer_config.json").string(),
            ": do_lower_case and split_by_punct must be false for ", file.filename().string()),
        "DeBERTa-v3 and XLM-R have them so");
  settings.added = listed_tokens(json_of("added_tokens.json"), config);
  return settings;
}

}  // namespace lockstep::dimabsa
