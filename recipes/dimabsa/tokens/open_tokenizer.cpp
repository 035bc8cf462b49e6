// Which tokenizer a model folder has.
#include "base/error.h"
#include "base/text.h"
#include "recipes/dimabsa/tokens/bert_folder.h"
#include "recipes/dimabsa/tokens/sentence_piece_folder.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {

std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(folder))
    throw Error(cat(folder.string(), " is not a folder"),
                "name the folder of a model, with config.json, the weights and its tokenizer");
  if (fs::exists(folder / "sentencepiece.bpe.model") || fs::exists(folder / "spm.model"))
    return make_sentence_piece(sentence_piece_settings(folder));
  if (fs::exists(folder / "vocab.txt") || fs::exists(folder / "tokenizer.json"))
    return make_word_piece(word_piece_settings(read_bert_files(folder)));
  throw Error(cat(folder.string(), " has no tokenizer"),
              "it must hold vocab.txt or tokenizer.json (BERT), sentencepiece.bpe.model (XLM-R) or "
              "spm.model (DeBERTa-v3), as Hugging Face writes them");
}

}  // namespace lockstep::dimabsa
