// Opens the tokenizer in a model folder.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/tokens/bert_folder.h"
#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece_folder.h"
#include "recipes/dimabsa/tokens/sentence_piece/unigram_json.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(folder, failed))
    throw Error(cat(folder.string(), " is not a folder"),
                "name the folder of a model, with config.json, the weights and its tokenizer");
  const auto has = [&](const char* name) { return fs::exists(folder / name, failed); };
  // tokenizer.json has priority, as in AutoTokenizer. Other files may be outdated, because
  // transformers 5 writes only tokenizer.json.
  if (!has("tokenizer.json") && (has("sentencepiece.bpe.model") || has("spm.model")))
    return make_sentence_piece(sentence_piece_settings(folder));
  if (!has("vocab.txt") && !has("tokenizer.json"))
    throw Error(cat(folder.string(), " has no tokenizer"),
                "it must hold vocab.txt or tokenizer.json (BERT), sentencepiece.bpe.model (XLM-R) "
                "or spm.model (DeBERTa-v3), as Hugging Face writes them");
  const BertFiles files = read_bert_files(folder);
  if (files.tokenizer_json) {
    const fs::path path = folder / "tokenizer.json";
    const nlohmann::json tokenizer = object_of(files.tokenizer_json, path);
    if (is_unigram(tokenizer))
      return make_sentence_piece(unigram_settings(
          tokenizer, object_of(files.tokenizer_config, folder / "tokenizer_config.json"), path));
  }
  return make_word_piece(word_piece_settings(files));
}

}  // namespace lockstep::dimabsa
