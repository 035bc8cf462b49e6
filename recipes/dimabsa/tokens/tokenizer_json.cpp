#include "recipes/dimabsa/tokens/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;

[[noreturn]] void other_kind(const std::string& where, const std::string& part,
                             const std::string& expected, const std::string& found) {
  throw Error(
      cat(where, " must have a ", part, " of type ", expected, ", but has ",
          found.empty() ? "none" : printable(found)),
      "WordPiece (BERT) and Unigram (XLM-R, DeBERTa-v3) are read from tokenizer.json, which "
      "counts before the folder's other files; without it vocab.txt, "
      "sentencepiece.bpe.model or spm.model is read");
}

const json& part_of(const json& file, const char* part, const char* type,
                    const std::string& where) {
  static const json none = json::object();
  const auto found = file.find(part);
  const json& object = found != file.end() && found->is_object() ? *found : none;
  const std::string name = text_or(object, "type", "");
  if (name != type) other_kind(where, part, type, name);
  return object;
}

std::vector<std::string> pieces_of(const json& model, const std::string& where) {
  const auto vocabulary = model.find("vocab");
  if (vocabulary == model.end() || !vocabulary->is_object())
    throw Error(cat(where, " has no model.vocab"), "it must map each piece to its id");
  std::vector<std::string> pieces;
  for (const auto& [piece, id] : vocabulary->items()) {
    const std::int64_t place = id.is_number_integer() ? id.get<std::int64_t>() : -1;
    if (place < 0 || place >= most_pieces)
      throw Error(
          cat(where, ": the id of '", printable(piece), "' must be a whole number from 0 to ",
              most_pieces - 1, ", but is ", id.dump()),
          "take the file that came with the weights");
    if (pieces.size() <= static_cast<std::size_t>(place))
      pieces.resize(static_cast<std::size_t>(place) + 1);
    std::string& entry = pieces[static_cast<std::size_t>(place)];
    if (!entry.empty())
      throw Error(cat(where, " gives '", printable(entry), "' and '", printable(piece),
                      "' the same id, ", place),
                  "take the file that came with the weights");
    entry = piece;
  }
  return pieces;
}

bool flag(const json& object, const char* key, bool otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

}  // namespace

AddedToken added_token_of(const json& token, std::int64_t id) {
  return {.text = text_or(token, "content", ""),
          .id = id,
          .single_word = is_true(token, "single_word"),
          .lstrip = is_true(token, "lstrip"),
          .rstrip = is_true(token, "rstrip"),
          .normalized = flag(token, "normalized", !is_true(token, "special"))};
}

std::vector<AddedToken> added_tokens_of(const json& file) {
  std::vector<AddedToken> tokens;
  const auto added = file.find("added_tokens");
  if (added == file.end() || !added->is_array()) return tokens;
  for (const json& token : *added) {
    const std::int64_t id = token.is_object() ? integer_or(token, "id", -1) : -1;
    if (id >= 0 && id < most_pieces) tokens.push_back(added_token_of(token, id));
  }
  return tokens;
}

std::string token_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_object() ? text_or(value, "content", "") : "";
}

void read_tokenizer_json(const json& file, const std::string& where, WordPieceSettings& settings,
                         std::optional<BertNormalizer>& rules) {
  const json& model = part_of(file, "model", "WordPiece", where);
  const json normalizer = file.value("normalizer", json());
  settings.words = read_word_rules(file.value("pre_tokenizer", json()), where);
  if (settings.words.has_marks) other_kind(where, "pre_tokenizer", "BertPreTokenizer", "Metaspace");
  settings.vocabulary = pieces_of(model, where);
  settings.unknown = text_or(model, "unk_token", settings.unknown);
  settings.continuation = text_or(model, "continuing_subword_prefix", settings.continuation);
  settings.longest_word = static_cast<std::size_t>(
      std::max<std::int64_t>(0, integer_or(model, "max_input_chars_per_word", 100)));
  if (normalizer.is_object() && text_or(normalizer, "type", "") == "BertNormalizer") {
    rules = BertNormalizer();
    rules->clean_text = flag(normalizer, "clean_text", true);
    rules->chinese_characters = flag(normalizer, "handle_chinese_chars", true);
    rules->lower_case = flag(normalizer, "lowercase", true);
    rules->strip_accents = flag(normalizer, "strip_accents", rules->lower_case);
  } else {
    settings.normalizer = read_normalizer(normalizer, where);
  }
  settings.added = added_tokens_of(file);
}

}  // namespace lockstep::dimabsa
