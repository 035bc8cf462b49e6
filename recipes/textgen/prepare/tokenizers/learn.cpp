// Makes the tokenizer that the options ask for.
#include "recipes/textgen/prepare/tokenizers/learn.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "recipes/textgen/prepare/parallel.h"

namespace lockstep::textgen {
namespace {

namespace fs = std::filesystem;

struct Characters {
  std::vector<bool> train = std::vector<bool>(0x110000), valid = std::vector<bool>(0x110000);
};

struct CharacterWorker {
  const TextOptions* options;
  Characters seen;
  bool operator()(const Chunk& chunk) {
    for_each_passage(chunk, options->data.field, options->data.valid_share, true,
                     [&](const Passage& passage) {
                       std::vector<bool>& set = passage.valid ? seen.valid : seen.train;
                       for (std::string_view text = passage.text; !text.empty();) {
                         const CodePoint point = next_code_point(text);
                         set[point.value] = true;
                         text.remove_prefix(point.length);
                       }
                     });
    return true;
  }
};

std::unique_ptr<Tokenizer> learn_characters(const TextOptions& options, const Corpus& corpus) {
  std::vector<CharacterWorker> workers(worker_count(), CharacterWorker{&options, {}});
  ChunkReader reader(corpus.files, corpus.segments, Cut::character);
  ordered_parallel<Chunk, char>([&](Chunk& chunk) { return reader.next(chunk); }, workers,
                                [](char) {});
  std::vector<char32_t> characters;
  bool unknown = false;
  const auto any = [&](auto set, char32_t c) {
    return std::any_of(workers.begin(), workers.end(),
                       [&](const CharacterWorker& worker) { return (worker.seen.*set)[c]; });
  };
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (any(&Characters::train, c))
      characters.push_back(c);
    else
      unknown = unknown || any(&Characters::valid, c);
  }
  return make_char_tokenizer(std::move(characters), unknown, corpus.documents > 1);
}

// Takes lines of training text of at most `longest` bytes, with their line feeds. In a large
// corpus, each line is taken with the probability `share`, by a hash of its position.
struct LineWorker {
  static constexpr std::size_t longest = 4096;
  const TextOptions* options;
  double share;
  std::vector<std::string> operator()(const Chunk& chunk) const {
    std::vector<std::string> lines;
    std::int64_t number = 0;
    for_each_passage(chunk, options->data.field, options->data.valid_share, true,
                     [&](const Passage& passage) {
                       if (passage.valid) return;
                       for (std::string_view text = passage.text; !text.empty();) {
                         const std::string_view line = take_line(text);
                         if (is_validation(cat(chunk.index, ":", number++), share))
                           lines.emplace_back(line);
                       }
                     });
    return lines;
  }

  static std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    if (length > longest) {
      length = longest;
      while ((static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
    }
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    return line;
  }
};

std::unique_ptr<Tokenizer> learn_bpe(const TextOptions& options, const Corpus& corpus,
                                     const Say& say) {
  constexpr double most_bytes = 16.0 * (1 << 20);
  const auto bytes = static_cast<double>(std::max<std::int64_t>(1, corpus.train_bytes));
  const double share = std::min(1.0, most_bytes / bytes);
  std::vector<LineWorker> workers(worker_count(), LineWorker{&options, share});
  ChunkReader reader(corpus.files, corpus.segments, Cut::character);
  std::vector<std::string> lines;
  ordered_parallel<Chunk, std::vector<std::string>>(
      [&](Chunk& chunk) { return reader.next(chunk); }, workers,
      [&](std::vector<std::string> part) {
        std::move(part.begin(), part.end(), std::back_inserter(lines));
      });
  say(cat("training a vocabulary of ", options.tokenizer.vocab, " tokens on ",
          format_bytes(std::min(bytes, most_bytes)), " of text"));
  return make_bpe_tokenizer(train_bpe(lines, options.tokenizer.vocab), "the trained vocabulary");
}

}  // namespace

std::unique_ptr<Tokenizer> named_tokenizer(const TextOptions& options) {
  const fs::path path = options.tokenizer.path;
  if (options.tokenizer.kind == TokenizerKind::bpe)
    return make_bpe_tokenizer(read_file(path, list_bytes), path.string());
  return make_gpt2_tokenizer(read_file(path / "vocab.json", list_bytes),
                             read_file(path / "merges.txt", list_bytes), path.string());
}

std::unique_ptr<Tokenizer> make_tokenizer(const TextOptions& options, const Corpus& corpus,
                                          const Say& say) {
  switch (options.tokenizer.kind) {
    case TokenizerKind::bytes:
      return make_byte_tokenizer();
    case TokenizerKind::chars:
      return learn_characters(options, corpus);
    case TokenizerKind::gpt2:
      return named_tokenizer(options);
    case TokenizerKind::bpe:
      return options.tokenizer.path.empty() ? learn_bpe(options, corpus, say)
                                            : named_tokenizer(options);
  }
  throw Error("tokenizer.kind is unknown");
}

std::string tokenizer_identity(const TextOptions& options) {
  const fs::path path = options.tokenizer.path;
  switch (options.tokenizer.kind) {
    case TokenizerKind::bytes:
      return "bytes";
    case TokenizerKind::chars:
      return "chars";
    case TokenizerKind::gpt2: {
      Hasher hash;
      hash.update(read_file(path / "vocab.json", list_bytes));
      hash.update(read_file(path / "merges.txt", list_bytes));
      return "gpt2 " + hash.hex();
    }
    case TokenizerKind::bpe: {
      if (path.empty()) return cat("bpe ", options.tokenizer.vocab);
      Hasher hash;
      hash.update(read_file(path, list_bytes));
      return "bpe " + hash.hex();
    }
  }
  return {};
}

Cut cut_for(const Tokenizer& tokenizer) {
  return tokenizer.may_cut_anywhere() ? Cut::character : Cut::space;
}

}  // namespace lockstep::textgen
