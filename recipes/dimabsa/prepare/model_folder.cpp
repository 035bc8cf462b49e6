#include "recipes/dimabsa/prepare/model_folder.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/files/fill_once.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/options/encoded.h"
#include "recipes/dimabsa/prepare/encode.h"
#include "recipes/dimabsa/tokens/tokenizer.h"
#include "runtime/run/checkpoint/weight_source.h"

namespace lockstep::dimabsa {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int learned_version = 1;
// Embedding tables may be larger than the vocabulary, because their size is rounded up. DeBERTa-v3
// has about 100 spare rows, mDeBERTa-v3 about 900.
constexpr std::int64_t most_spare_rows = 1024;

json config_of(const EncoderShape& shape) {
  return {{"model_type", "bert"},
          {"vocab_size", shape.vocabulary},
          {"hidden_size", shape.width},
          {"num_hidden_layers", shape.layers},
          {"num_attention_heads", shape.heads},
          {"intermediate_size", shape.feed_forward},
          {"max_position_embeddings", shape.positions},
          {"type_vocab_size", shape.segments},
          {"layer_norm_eps", shape.norm_epsilon},
          {"hidden_act", "gelu"},
          {"hidden_dropout_prob", shape.dropout},
          {"attention_probs_dropout_prob", shape.attention_dropout}};
}

void learn(const DimabsaOptions& options, const std::vector<std::string>& texts,
           const fs::path& folder) {
  std::vector<std::string> all = texts;
  // The words of queries are pieces too.
  for (int i = 0; i < 100; ++i)
    all.push_back(
        "null what aspects ? what opinions ? what opinion given the aspect ? what aspect does the "
        "opinion describe ? what category valence arousal given the aspect and the opinion ?");
  const std::vector<std::string> pieces =
      learn_word_pieces(all, static_cast<std::size_t>(options.model.vocabulary), true);
  write_file_atomic(folder / "vocab.txt", join(pieces, "\n") + "\n");
  write_file_atomic(
      folder / "tokenizer_config.json",
      json{{"do_lower_case", true}, {"tokenizer_class", "BertTokenizer"}}.dump(1) + "\n");
  // A tokenizer can only be opened if the folder has a config.json. Its final number of positions
  // depends on the length of the queries.
  const auto vocabulary = std::ssize(pieces);
  write_file_atomic(folder / "config.json",
                    config_of(options.small_shape(vocabulary, 512)).dump(1) + "\n");
  const std::int64_t room = query_room(make_queries(*open_tokenizer(folder), Task::quadruplets));
  constexpr std::int64_t multiple = 64;
  const std::int64_t positions = (options.data.cut + room + multiple - 1) / multiple * multiple;
  write_file_atomic(folder / "config.json",
                    config_of(options.small_shape(vocabulary, positions)).dump(1) + "\n");
}

}  // namespace

std::vector<std::string> model_files(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const char* name :
       {"config.json", "vocab.txt", "tokenizer_config.json", "tokenizer.json", "added_tokens.json",
        "special_tokens_map.json", "sentencepiece.bpe.model", "spm.model"})
    if (fs::is_regular_file(folder / name, ignored)) names.emplace_back(name);
  return names;
}

std::string hash_of_files(const fs::path& folder, const std::vector<std::string>& names) {
  Hasher hasher;
  for (const std::string& name : names) {
    const std::string content = read_file(folder / name, list_bytes);
    hasher.update(cat(name, ":", content.size(), ":"));
    hasher.update(content);
  }
  return hasher.hex();
}

fs::path learned_folder(const DimabsaOptions& options, const std::vector<std::string>& texts,
                        const fs::path& cache, const Say& say) {
  Hasher hasher;
  for (const std::string& text : texts) hasher.update(text + "\n");
  hasher.update(cat(learned_version, " ", options.model.vocabulary, " ",
                    config_of(options.small_shape(0, options.data.cut)).dump()));
  return fill_once(
      cache / "dimabsa", "learned-" + hasher.hex(),
      [](const fs::path& folder) { return fs::exists(folder / "config.json"); },
      [&](const fs::path& folder) {
        say(cat("learning a vocabulary of at most ", options.model.vocabulary, " pieces"));
        learn(options, texts, folder);
      },
      [&] { say("waiting for another run that learns the same vocabulary"); });
}

bool holds_weights(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    for (const char* const ending :
         {".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".index.json", ".distcp"})
      if (name.ends_with(ending)) return true;
    // files of a run and of a checkpoint
    if (name == "run.json" || name == "manifest.json") return true;
  }
  return false;
}

json find_weights(const fs::path& folder, std::int64_t vocabulary, const EncoderShape& shape,
                  bool hashed, const Say& say) {
  const WeightSource source = find_weight_source(folder, false, false);
  std::int64_t rows = shape.vocabulary;
  for (const SourceTensor& tensor : read_source(source))
    if (tensor.stored.name.ends_with("word_embeddings.weight") && tensor.stored.shape.size() == 2)
      rows = tensor.stored.shape[0];
  if (rows != shape.vocabulary)
    throw Error(cat(folder.string(), ": the weights have ", rows,
                    " word embeddings, but vocab_size in config.json is ", shape.vocabulary),
                "take config.json and weights of the same model");
  if (vocabulary > rows || rows - vocabulary > most_spare_rows)
    throw Error(cat(folder.string(), ": the vocabulary has ", vocabulary,
                    " pieces, but the weights have ", rows, " word embeddings"),
                "take the tokenizer's files of the same model as the weights");
  if (vocabulary != rows)
    say(cat("warning: ", folder.string(), ": the vocabulary has ", vocabulary,
            " pieces and the weights have ", rows,
            " word embeddings: are the tokenizer's files those of the same model?"));
  return to_json(source, hashed);
}

}  // namespace lockstep::dimabsa
