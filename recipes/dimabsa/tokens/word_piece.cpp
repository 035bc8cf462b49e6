#include "recipes/dimabsa/tokens/word_piece.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep::dimabsa {
namespace {

class WordPiece : public Tokenizer {
 public:
  explicit WordPiece(WordPieceSettings settings);

  std::vector<Piece> encode(std::string_view text) const override;
  std::int64_t vocabulary() const override { return vocabulary_; }
  std::int64_t cls() const override { return cls_; }
  std::int64_t sep() const override { return sep_; }
  std::int64_t pad() const override { return pad_; }
  std::int64_t unknown() const override { return unknown_; }

 private:
  std::int64_t id_of(const std::string& token, const char* key) const;
  void add_words(const Characters& text, std::vector<Piece>& out) const;
  void add_word(const Character* begin, const Character* end, std::vector<Piece>& out) const;
  // Finds the longest piece at the front of [at, end). Returns the place after it, or `at` if there
  // is none.
  const Character* longest(const Character* at, const Character* end, bool begins,
                           std::int64_t& id) const;

  WordPieceSettings settings_;
  std::unordered_map<std::string, std::int64_t> ids_;
  std::vector<bool> lengths_;  // by number of bytes: whether a piece has this length
  std::int64_t vocabulary_ = 0, cls_ = 0, sep_ = 0, pad_ = 0, unknown_ = 0;
  AddedTokens original_, normalized_;
};

WordPiece::WordPiece(WordPieceSettings settings)
    : settings_(std::move(settings)),
      original_(settings_.added, false, settings_.normalizer),
      normalized_(settings_.added, true, settings_.normalizer) {
  const auto& pieces = settings_.vocabulary;
  if (std::ranges::all_of(pieces, &std::string::empty))
    throw Error(cat(settings_.where, " is empty"), "a vocabulary has one piece per line");
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].empty()) continue;
    const auto [entry, is_new] = ids_.emplace(pieces[i], i);
    if (!is_new)
      throw Error(cat(settings_.where, " has '", printable(pieces[i]), "' twice, as piece ",
                      entry->second, " and ", i),
                  "a piece's place is its id, so each can be there once; take the vocabulary that "
                  "came with the weights");
    lengths_.resize(std::max(lengths_.size(), pieces[i].size() + 1));
    lengths_[pieces[i].size()] = true;
  }
  vocabulary_ = static_cast<std::int64_t>(pieces.size());
  for (const AddedToken& token : settings_.added) vocabulary_ = std::max(vocabulary_, token.id + 1);
  cls_ = id_of(settings_.cls, "cls_token");
  sep_ = id_of(settings_.sep, "sep_token");
  pad_ = id_of(settings_.pad, "pad_token");
  unknown_ = id_of(settings_.unknown, "unk_token");
}

std::int64_t WordPiece::id_of(const std::string& token, const char* key) const {
  if (const auto entry = ids_.find(token); entry != ids_.end()) return entry->second;
  for (const AddedToken& added : settings_.added)
    if (added.text == token) return added.id;
  throw Error(cat(settings_.where, " has no ", printable(token)),
              cat("take the vocabulary that came with the weights; if it calls this token "
                  "otherwise, say so by ",
                  key, " in tokenizer_config.json"));
}

const Character* WordPiece::longest(const Character* at, const Character* end, bool begins,
                                    std::int64_t& id) const {
  std::string piece = begins ? std::string() : settings_.continuation;
  std::vector<std::size_t> sizes{piece.size()};
  for (const Character* c = at; c != end && piece.size() < lengths_.size(); ++c) {
    append_utf8(piece, c->value);
    sizes.push_back(piece.size());
  }
  for (std::size_t count = sizes.size() - 1; count > 0; --count) {
    piece.resize(sizes[count]);
    if (piece.size() >= lengths_.size() || !lengths_[piece.size()]) continue;
    const auto entry = ids_.find(piece);
    if (entry == ids_.end()) continue;
    id = entry->second;
    return at + count;
  }
  return at;
}

void WordPiece::add_word(const Character* begin, const Character* end,
                         std::vector<Piece>& out) const {
  const std::size_t first = out.size();
  const Piece whole{unknown_, begin->begin, (end - 1)->end, true};
  if (static_cast<std::size_t>(end - begin) > settings_.longest_word) {
    out.push_back(whole);
    return;
  }
  for (const Character* at = begin; at != end;) {
    std::int64_t id = 0;
    const Character* const next = longest(at, end, at == begin, id);
    if (next == at) {
      out.resize(first);
      out.push_back(whole);
      return;
    }
    out.push_back({id, at->begin, (next - 1)->end, at == begin});
    at = next;
  }
}

void WordPiece::add_words(const Characters& text, std::vector<Piece>& out) const {
  for (const Span& word : settings_.words(text))
    add_word(text.data() + word.begin, text.data() + word.end, out);
}

std::vector<Piece> WordPiece::encode(std::string_view text) const {
  std::vector<Piece> out;
  const auto token_of = [&](const Characters& all) {
    return [&out, &all](std::int64_t id, Span span) {
      out.push_back({id, all[span.begin].begin, all[span.end - 1].end, true});
    };
  };
  const Characters all = characters_of(text);
  original_.split(
      all,
      [&](Span span) {
        const Characters normal = settings_.normalizer(characters_within(all, span));
        normalized_.split(
            normal, [&](Span words) { add_words(characters_within(normal, words), out); },
            token_of(normal));
      },
      token_of(all));
  return out;
}

}  // namespace

std::unique_ptr<Tokenizer> make_word_piece(WordPieceSettings settings) {
  return std::make_unique<WordPiece>(std::move(settings));
}

}  // namespace lockstep::dimabsa
