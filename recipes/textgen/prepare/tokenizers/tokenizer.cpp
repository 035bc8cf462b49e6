// Common code of all tokenizers: stores them in a folder and loads them.
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/textgen/options/token_pieces.h"
#include "recipes/textgen/prepare/token_writer.h"

namespace lockstep::textgen {

Tokens Tokenizer::encode(std::string_view text) const {
  Tokens tokens;
  encoder()->encode(text, tokens);
  return tokens;
}

std::string Tokenizer::decode(std::span<const std::uint32_t> tokens) const {
  std::string text;
  for (const std::uint32_t token : tokens) text += piece(token);
  return text;
}

std::vector<std::string> Tokenizer::pieces() const {
  std::vector<std::string> all;
  for (std::int64_t token = 0; token < vocabulary(); ++token) all.push_back(piece(token));
  return all;
}

std::vector<std::string> save_tokenizer(const Tokenizer& tokenizer,
                                        const std::filesystem::path& folder) {
  nlohmann::json description = tokenizer.description();
  description["kind"] = tokenizer.kind();
  std::vector<std::string> names = {"tokenizer.json", "pieces.bin", "bytes.bin"};
  write_file_atomic(folder / names[0], description.dump(1) + "\n");
  const std::vector<std::string> pieces = tokenizer.pieces();
  write_file_atomic(folder / names[1], encode_pieces(pieces));
  TokenWriter lengths(folder / names[2], 65536);
  for (const std::string& piece : pieces) lengths.write(static_cast<std::uint32_t>(piece.size()));
  lengths.finish();
  for (const auto& [name, content] : tokenizer.files()) {
    write_file_atomic(folder / name, content);
    names.push_back(name);
  }
  return names;
}

std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "tokenizer.json";
  try {
    const nlohmann::json description = parse_json(read_file(path, list_bytes));
    const std::string kind = description.at("kind");
    if (kind == "bytes") return make_byte_tokenizer();
    if (kind == "chars") return load_char_tokenizer(description);
    if (kind == "gpt2")
      return make_gpt2_tokenizer(read_file(folder / "vocab.json", list_bytes),
                                 read_file(folder / "merges.txt", list_bytes), folder.string());
    if (kind == "bpe")
      return make_bpe_tokenizer(read_file(folder / "tokenizer.model", list_bytes),
                                (folder / "tokenizer.model").string());
    throw Error(cat(path.string(), " names a tokenizer that this version does not know: ", kind),
                "use the version of Lockstep that wrote it");
  } catch (const nlohmann::json::exception& error) {
    throw Error(cat(path.string(), " is damaged: ", error.what()),
                "restore the folder, or start a new run");
  }
}

}  // namespace lockstep::textgen
