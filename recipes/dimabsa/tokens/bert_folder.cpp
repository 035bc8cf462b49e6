#include "recipes/dimabsa/tokens/bert_folder.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "recipes/dimabsa/tokens/tokenizer_json.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::optional<std::string> text_of(const fs::path& file) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return {};
  return read_file(file, list_bytes);
}

std::vector<std::string> lines_of(std::string_view text, const std::string& where) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (invalid_bytes(line) > 0)
      throw Error(cat(where, ": line ", lines.size() + 1, " is not UTF-8"),
                  "take the file that came with the weights");
    lines.emplace_back(line);
  }
  return lines;
}

// Whether a piece that is no special token contains a capital letter.
bool has_capitals(const std::vector<std::string>& pieces) {
  const auto capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  return std::ranges::any_of(pieces, [&](const std::string& piece) {
    return !piece.starts_with('[') && !piece.starts_with('<') &&
           std::ranges::any_of(piece, capital);
  });
}

void rename_tokens(const json& config, WordPieceSettings& settings) {
  const auto rename = [&](const char* key, std::string& token) {
    const auto found = config.find(key);
    if (found == config.end()) return;
    if (const std::string text = token_text(*found); !text.empty()) token = text;
  };
  rename("cls_token", settings.cls);
  rename("sep_token", settings.sep);
  rename("pad_token", settings.pad);
  rename("unk_token", settings.unknown);
}

// A rule in the configuration. A null is treated as absent.
std::optional<bool> rule(const json& config, const char* key, const std::string& where) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return {};
  if (found->is_boolean()) return found->get<bool>();
  throw Error(cat(where, ": ", key, " must be true or false, but is ", found->dump()));
}

void set_rules(const json& config, const std::string& where, BertNormalizer& rules) {
  if (const auto lower = rule(config, "do_lower_case", where)) {
    rules.lower_case = rules.strip_accents = *lower;
  }
  if (const auto strip = rule(config, "strip_accents", where)) rules.strip_accents = *strip;
  if (const auto chinese = rule(config, "tokenize_chinese_chars", where))
    rules.chinese_characters = *chinese;
}

// In transformers 5, a BertTokenizer reads only the pieces from tokenizer.json. It reads the rules
// from tokenizer_config.json. Only that version writes "backend".
bool is_bert_of_5(const json& config) {
  const std::string kind = text_or(config, "tokenizer_class", "");
  return config.contains("backend") && (kind == "BertTokenizer" || kind == "BertTokenizerFast");
}

// Throws Error for unsupported ways to find words, such as the dictionaries of many Japanese
// models.
void check_kind(const json& config, const std::string& where) {
  for (const auto& [key, known] :
       {std::pair("word_tokenizer_type", "basic"), {"subword_tokenizer_type", "wordpiece"}})
    if (const std::string kind = text_or(config, key, known); kind != known)
      throw Error(cat(where, ": ", key, " must be ", known, ", but is ", printable(kind)),
                  "take a model whose words are found without a dictionary, such as multilingual "
                  "BERT or XLM-R");
}

// Adds tokens to a list. If several have the same text, the first one is kept.
class TokenList {
 public:
  explicit TokenList(std::vector<AddedToken>& tokens) : tokens_(tokens) {
    for (const AddedToken& token : tokens) texts_.insert(token.text);
  }
  void add(AddedToken token) {
    const bool is_token = !token.text.empty() && token.id >= 0 && token.id < most_pieces;
    if (is_token && texts_.insert(token.text).second) tokens_.push_back(std::move(token));
  }

 private:
  std::vector<AddedToken>& tokens_;
  std::set<std::string> texts_;
};

// Adds special tokens that are in the vocabulary.
void add_special(const std::vector<std::string>& names, const WordPieceSettings& settings,
                 TokenList& added) {
  std::map<std::string_view, std::int64_t> ids;
  for (std::size_t i = 0; i < settings.vocabulary.size(); ++i)
    ids.emplace(settings.vocabulary[i], static_cast<std::int64_t>(i));
  for (const std::string& name : names)
    if (const auto found = ids.find(name); found != ids.end())
      added.add({.text = name, .id = found->second});
}

std::vector<std::string> special_names(const json& config, const WordPieceSettings& settings) {
  std::vector<std::string> names = {settings.pad, settings.unknown, settings.cls, settings.sep};
  const auto mask = config.find("mask_token");
  names.push_back(mask == config.end() ? "[MASK]" : token_text(*mask));
  for (const char* key : {"additional_special_tokens", "extra_special_tokens"})
    if (const auto more = config.find(key); more != config.end() && more->is_array())
      for (const json& token : *more) names.push_back(token_text(token));
  return names;
}

}  // namespace

json object_of(const std::optional<std::string>& text, const std::string& where) {
  if (!text) return json::object();
  json value = parse_json(*text);
  if (!value.is_object())
    throw Error(cat(where, " is not a JSON object"), "take the file that came with the weights");
  return value;
}

std::vector<AddedToken> listed_tokens(const json& added, const json& config) {
  std::vector<AddedToken> tokens;
  TokenList list(tokens);
  if (const auto decoder = config.find("added_tokens_decoder");
      decoder != config.end() && decoder->is_object())
    for (const auto& [key, token] : decoder->items()) {
      std::int64_t id = -1;
      std::from_chars(key.data(), key.data() + key.size(), id);
      list.add(added_token_of(token, id));
    }
  for (const auto& [text, id] : added.items())
    if (id.is_number_integer())
      list.add({.text = text, .id = id.get<std::int64_t>(), .normalized = true});
  return tokens;
}

BertFiles read_bert_files(const fs::path& folder) {
  return {.folder = folder,
          .vocab_txt = text_of(folder / "vocab.txt"),
          .tokenizer_json = text_of(folder / "tokenizer.json"),
          .tokenizer_config = text_of(folder / "tokenizer_config.json"),
          .special_tokens_map = text_of(folder / "special_tokens_map.json"),
          .added_tokens = text_of(folder / "added_tokens.json")};
}

WordPieceSettings word_piece_settings(const BertFiles& files) {
  const auto path = [&](const char* name) { return fs::path(files.folder) / name; };
  WordPieceSettings settings;
  const std::string config_file = path("tokenizer_config.json");
  json config = object_of(files.special_tokens_map, path("special_tokens_map.json"));
  config.update(object_of(files.tokenizer_config, config_file));
  std::optional<BertNormalizer> rules;
  if (files.tokenizer_json) {
    settings.where = path("tokenizer.json");
    read_tokenizer_json(object_of(files.tokenizer_json, settings.where), settings.where, settings,
                        rules);
    if (is_bert_of_5(config)) {
      rules = rules.value_or(BertNormalizer());
      settings.words = {.rules = {WordRule::bert}};
    }
  } else {
    settings.where = path("vocab.txt");
    settings.vocabulary = lines_of(files.vocab_txt.value_or(""), settings.where);
    const bool lower = !has_capitals(settings.vocabulary);
    rules = BertNormalizer{.strip_accents = lower, .lower_case = lower};
  }
  check_kind(config, config_file);
  if (rules) {
    set_rules(config, config_file, *rules);
    settings.normalizer = *rules;
  }
  rename_tokens(config, settings);
  TokenList added(settings.added);
  for (AddedToken& token :
       listed_tokens(object_of(files.added_tokens, path("added_tokens.json")), config))
    added.add(std::move(token));
  add_special(special_names(config, settings), settings, added);
  return settings;
}

}  // namespace lockstep::dimabsa
