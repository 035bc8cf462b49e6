#include "recipes/dimabsa/tokens/sentence_piece/unigram_json.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/tokens/tokenizer_json.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;

// Writes a message of protocol buffers. The numbers of fields and types are those in
// sentencepiece_model.proto.
class Message {
 public:
  void add(int field, std::uint64_t value) {
    key(field, 0);
    number(value);
  }
  void add(int field, float value) {
    key(field, 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xFF);
  }
  void add(int field, std::string_view text) {
    key(field, 2);
    number(text.size());
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, int kind) { number(static_cast<std::uint64_t>(field) << 3 | kind); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

enum class PieceKind : std::uint64_t { normal = 1, unknown = 2, control = 3 };

const json& member(const json& object, const char* key) {
  static const json none;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

[[noreturn]] void wrong(const std::string& where, const std::string& what) {
  throw Error(
      cat(where, what),
      "take the file that came with the weights; without tokenizer.json, sentencepiece.bpe.model "
      "(XLM-R) or spm.model (DeBERTa-v3) of the folder is read");
}

Message piece_of(const json& entry, PieceKind kind, const std::string& where) {
  const bool is_piece =
      entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number();
  if (!is_piece) wrong(where, cat(": ", printable(entry.dump()), " is not a piece with its score"));
  Message piece;
  piece.add(1, std::string_view(entry[0].get_ref<const std::string&>()));
  piece.add(2, entry[1].get<float>());
  piece.add(3, static_cast<std::uint64_t>(kind));
  return piece;
}

std::string model_of(const json& tokenizer, const std::vector<AddedToken>& added,
                     const std::string& where) {
  const json& model = member(tokenizer, "model");
  const json& pieces = member(model, "vocab");
  const std::int64_t unknown = integer_or(model, "unk_id", -1);
  if (is_true(model, "byte_fallback"))
    wrong(where, ": its model has byte_fallback, which is not known here");
  if (!pieces.is_array() || unknown < 0 || unknown >= static_cast<std::int64_t>(pieces.size()))
    wrong(where, " has no model.vocab with its model.unk_id");
  std::set<std::int64_t> control;
  for (const AddedToken& token : added) control.insert(token.id);
  Message file, trainer, rules;
  for (std::int64_t id = 0; id < static_cast<std::int64_t>(pieces.size()); ++id) {
    const PieceKind kind = id == unknown          ? PieceKind::unknown
                           : control.contains(id) ? PieceKind::control
                                                  : PieceKind::normal;
    file.add(1, piece_of(pieces[static_cast<std::size_t>(id)], kind, where).bytes());
  }
  trainer.add(3, std::uint64_t{1});  // Unigram
  trainer.add(40, static_cast<std::uint64_t>(unknown));
  file.add(2, trainer.bytes());
  for (const int prefix_blanks_escapes : {3, 4, 5})  // done before the text reaches the model
    rules.add(prefix_blanks_escapes, std::uint64_t{0});
  file.add(3, rules.bytes());
  return file.bytes();
}

}  // namespace

bool is_unigram(const json& tokenizer) {
  return text_or(member(tokenizer, "model"), "type", "") == "Unigram";
}

SentencePieceSettings unigram_settings(const json& tokenizer, const json& config,
                                       const std::string& where) {
  SentencePieceSettings settings{.ids = SentencePieceIds::of_model, .where = where};
  settings.added = added_tokens_of(tokenizer);
  settings.model = model_of(tokenizer, settings.added, where);
  settings.normalizer = read_normalizer(member(tokenizer, "normalizer"), where);
  settings.words = read_word_rules(member(tokenizer, "pre_tokenizer"), where);
  const bool is_xlm =
      std::ranges::find(settings.added, "<s>", &AddedToken::text) != settings.added.end();
  const auto name = [&](const char* key, const char* xlm, const std::string& otherwise) {
    const std::string text = token_text(member(config, key));
    return !text.empty() ? text : is_xlm ? xlm : otherwise;
  };
  settings.cls = name("cls_token", "<s>", settings.cls);
  settings.sep = name("sep_token", "</s>", settings.sep);
  settings.pad = name("pad_token", "<pad>", settings.pad);
  settings.mask = name("mask_token", "<mask>", settings.mask);
  return settings;
}

}  // namespace lockstep::dimabsa
