// The one file of the recipe that knows sentencepiece.
#include "recipes/dimabsa/tokens/sentence_piece.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

namespace lockstep::dimabsa {
namespace {

constexpr char32_t space_mark_character = 0x2581;  // stands for a space
constexpr std::string_view space_mark = "\xe2\x96\x81";

// A text of its own between added tokens, as UTF-8.
struct Section {
  std::string text;
  std::vector<std::uint32_t> starts;  // of each character in `text`, and the end

  Section(const Characters& all, Span span) {
    for (std::size_t i = span.begin; i < span.end; ++i) {
      starts.push_back(static_cast<std::uint32_t>(text.size()));
      append_utf8(text, all[i].value);
    }
    starts.push_back(static_cast<std::uint32_t>(text.size()));
  }
  // The first character that begins at this byte or later.
  std::size_t character_at(std::uint32_t byte) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(starts, byte) - starts.begin());
  }
};

// Characters of a normalized text without marks of spaces.
std::size_t visible_characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const bool mark = text.starts_with(space_mark);
    text.remove_prefix(mark ? space_mark.size() : next_code_point(text).length);
    count += mark ? 0 : 1;
  }
  return count;
}

class SentencePiece : public Tokenizer {
 public:
  explicit SentencePiece(const SentencePieceSettings& settings);

  std::vector<Piece> encode(std::string_view text) const override;
  std::int64_t vocabulary() const override { return vocabulary_; }
  std::int64_t cls() const override { return cls_; }
  std::int64_t sep() const override { return sep_; }
  std::int64_t pad() const override { return pad_; }
  std::int64_t unknown() const override { return unknown_; }

 private:
  void number(const SentencePieceSettings& settings, std::vector<AddedToken>& special);
  std::int64_t id_of(const std::string& name, const std::string& where) const;
  std::size_t normalized_length(std::string_view text) const;
  bool leaves_nothing(char32_t character) const;
  void add_section(const Characters& all, Span span, std::vector<Piece>& out) const;

  sentencepiece::SentencePieceProcessor processor_;
  SentencePieceIds ids_;
  std::int64_t vocabulary_ = 0, cls_ = 0, sep_ = 0, pad_ = 0, unknown_ = 0;
  std::unique_ptr<AddedTokens> added_;
};

SentencePiece::SentencePiece(const SentencePieceSettings& settings) : ids_(settings.ids) {
  const auto status = processor_.LoadFromSerializedProto(settings.model);
  if (!status.ok())
    throw Error(cat(settings.where, " is not a sentencepiece model: ", status.ToString()),
                "take the file that came with the weights");
  std::vector<AddedToken> added;
  number(settings, added);
  for (const AddedToken& token : settings.added) {
    const auto same = [&](const AddedToken& other) { return other.text == token.text; };
    if (std::ranges::none_of(added, same)) added.push_back(token);
    vocabulary_ = std::max(vocabulary_, token.id + 1);
  }
  for (AddedToken& token : added) token.normalized = false;
  added_ = std::make_unique<AddedTokens>(added, false, [](Characters text) { return text; });
}

void SentencePiece::number(const SentencePieceSettings& settings,
                           std::vector<AddedToken>& special) {
  const std::int64_t pieces = processor_.GetPieceSize();
  if (ids_ == SentencePieceIds::xlm_roberta) {
    cls_ = 0, pad_ = 1, sep_ = 2, unknown_ = 3;
    if (processor_.unk_id() != 0 || pieces < 4)
      throw Error(
          cat(settings.where, " must have <unk>, <s>, </s> as its first pieces, but has not"),
          "XLM-R's sentencepiece.bpe.model has; a model of another family needs its own file");
    vocabulary_ = pieces + 2;
    special = {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}, {"<mask>", pieces + 1}};
    return;
  }
  cls_ = id_of("[CLS]", settings.where);
  sep_ = id_of("[SEP]", settings.where);
  pad_ = id_of("[PAD]", settings.where);
  unknown_ = processor_.unk_id();
  vocabulary_ = pieces + 1;
  special = {
      {"[CLS]", cls_}, {"[SEP]", sep_}, {"[PAD]", pad_}, {"[UNK]", unknown_}, {"[MASK]", pieces}};
}

std::int64_t SentencePiece::id_of(const std::string& name, const std::string& where) const {
  const int id = processor_.PieceToId(name);
  if (processor_.IsUnknown(id))
    throw Error(cat(where, " has no ", name), "DeBERTa-v3's spm.model has it; take that file");
  return id;
}

std::size_t SentencePiece::normalized_length(std::string_view text) const {
  const auto encoded =
      processor_.EncodeAsImmutableProto(absl::string_view(text.data(), text.size()));
  std::size_t length = 0;
  for (const auto& piece : encoded.pieces()) length += visible_characters(piece.piece());
  return length;
}

// What the model's rules drop, or take for a space.
bool SentencePiece::leaves_nothing(char32_t character) const {
  if (character == ' ') return true;
  const bool may_go = is_white(character) || is_control(character) ||
                      character == replacement_character || character == space_mark_character;
  if (!may_go) return false;
  std::string text;
  append_utf8(text, character);
  return normalized_length(text) == 0;
}

// The library says of each piece where the source of its first character begins, and takes that of
// the next piece for its end. Where one character became several that lie in two pieces, that end
// is too early: found by counting.
void SentencePiece::add_section(const Characters& all, Span span, std::vector<Piece>& out) const {
  const Section section(all, span);
  const std::string_view text = section.text;
  const auto encoded =
      processor_.EncodeAsImmutableProto(absl::string_view(text.data(), text.size()));
  std::size_t used = 0;  // characters of the source's first that pieces before have taken
  bool first = true;
  for (const auto& piece : encoded.pieces()) {
    const std::string& normal = piece.piece();
    const bool marked = std::string_view(normal).starts_with(space_mark);
    std::size_t begin = section.character_at(piece.begin());
    std::size_t end = section.character_at(piece.end());
    const auto source = text.substr(piece.begin(), piece.end() - piece.begin());
    const std::size_t visible = visible_characters(normal);
    if (used > 0 || source != normal) {
      const std::size_t expected = normalized_length(source);
      const std::size_t taken = used + visible;
      used = taken > expected ? taken - expected : 0;
      if (used > 0 && end + 1 < section.starts.size()) ++end;
    }
    const auto character = [&](std::size_t i) { return all[span.begin + i]; };
    const auto is_nothing = [&](std::size_t i) { return leaves_nothing(character(i).value); };
    const std::size_t least = visible > 0 ? 1 : 0;
    while (end - begin > least && is_nothing(begin)) ++begin;
    while (end - begin > least && is_nothing(end - 1)) --end;
    if (begin == end && end + 1 < section.starts.size()) ++end;
    const std::int64_t id = ids_ == SentencePieceIds::deberta_v3 ? piece.id()
                            : processor_.IsUnknown(static_cast<int>(piece.id()))
                                ? unknown_
                                : static_cast<std::int64_t>(piece.id()) + 1;
    const std::uint32_t from =
        begin < span.end - span.begin ? character(begin).begin : all[span.end - 1].end;
    out.push_back({id, from, end > begin ? character(end - 1).end : from, marked || first});
    first = false;
  }
}

std::vector<Piece> SentencePiece::encode(std::string_view text) const {
  std::vector<Piece> out;
  const Characters all = characters_of(text);
  added_->split(
      all, [&](Span span) { add_section(all, span, out); },
      [&](std::int64_t id, Span span) {
        out.push_back({id, all[span.begin].begin, all[span.end - 1].end, true});
      });
  return out;
}

}  // namespace

std::unique_ptr<Tokenizer> make_sentence_piece(SentencePieceSettings settings) {
  return std::make_unique<SentencePiece>(settings);
}

}  // namespace lockstep::dimabsa
