// A tokenizer with one token per character.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {
namespace {

class CharTokenizer : public Tokenizer {
 public:
  CharTokenizer(std::vector<char32_t> characters, bool replacement, bool separator)
      : characters_(std::move(characters)),
        replacement_(replacement ? static_cast<std::int64_t>(characters_.size()) : -1),
        separator_(separator ? static_cast<std::int64_t>(characters_.size()) + replacement : -1) {}

  std::string kind() const override { return "chars"; }
  std::int64_t vocabulary() const override {
    return static_cast<std::int64_t>(characters_.size()) + (replacement_ >= 0) + (separator_ >= 0);
  }
  std::int64_t separator() const override { return separator_; }
  bool may_cut_anywhere() const override { return true; }

  std::string piece(std::int64_t token) const override {
    std::string text;
    if (token == replacement_)
      append_utf8(text, replacement_character);
    else if (token != separator_)
      append_utf8(text, characters_[static_cast<std::size_t>(token)]);
    return text;
  }

  std::unique_ptr<Encoder> encoder() const override;

  nlohmann::json description() const override {
    std::vector<std::uint32_t> points(characters_.begin(), characters_.end());
    return {
        {"characters", points}, {"replacement", replacement_ >= 0}, {"separator", separator_ >= 0}};
  }

  std::uint32_t token_of(char32_t c) const {
    const auto found = std::lower_bound(characters_.begin(), characters_.end(), c);
    if (found != characters_.end() && *found == c)
      return static_cast<std::uint32_t>(found - characters_.begin());
    if (replacement_ >= 0) return static_cast<std::uint32_t>(replacement_);
    std::string character;
    append_utf8(character, c);
    throw Error(cat("the character \"", character, "\" is not in the model's vocabulary of ",
                    characters_.size(), " characters"),
                "use only characters of the training text, or train with tokenizer.kind=bytes");
  }

 private:
  std::vector<char32_t> characters_;
  std::int64_t replacement_, separator_;
};

class CharEncoder : public Encoder {
 public:
  explicit CharEncoder(const CharTokenizer& tokenizer) : tokenizer_(tokenizer) {}
  void encode(std::string_view text, Tokens& out) override {
    while (!text.empty()) {
      const CodePoint point = next_code_point(text);
      out.push_back(tokenizer_.token_of(point.value));
      text.remove_prefix(point.length);
    }
  }

 private:
  const CharTokenizer& tokenizer_;
};

std::unique_ptr<Encoder> CharTokenizer::encoder() const {
  return std::make_unique<CharEncoder>(*this);
}

}  // namespace

std::unique_ptr<Tokenizer> make_char_tokenizer(std::vector<char32_t> characters, bool replacement,
                                               bool separator) {
  std::sort(characters.begin(), characters.end());
  characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
  return std::make_unique<CharTokenizer>(std::move(characters), replacement, separator);
}

std::unique_ptr<Tokenizer> load_char_tokenizer(const nlohmann::json& description) {
  std::vector<char32_t> characters;
  for (const nlohmann::json& point : description.at("characters")) {
    const bool number = point.is_number_unsigned();
    const auto value = number ? point.get<std::uint64_t>() : 0;
    if (!number || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
      throw Error(cat("the tokenizer has a character that Unicode has not: ", point.dump()),
                  "restore tokenizer.json, or start a new run");
    characters.push_back(static_cast<char32_t>(value));
  }
  return make_char_tokenizer(std::move(characters), description.at("replacement"),
                             description.at("separator"));
}

}  // namespace lockstep::textgen
