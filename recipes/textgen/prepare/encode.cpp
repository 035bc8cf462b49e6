// Turns a corpus into token files.
#include "recipes/textgen/prepare/encode.h"

#include <memory>
#include <utility>

#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "recipes/textgen/prepare/parallel.h"
#include "recipes/textgen/prepare/token_writer.h"
#include "recipes/textgen/prepare/tokenizers/learn.h"
#include "recipes/textgen/prepare/tokenizers/pair_table.h"

namespace lockstep::textgen {
namespace {

// The tokens of a chunk. A separator precedes each document that starts in it.
struct Part {
  Tokens train, valid;
  std::size_t bytes = 0;
};

struct Worker {
  Worker(const Tokenizer& tokenizer, const TextOptions& options)
      : tokenizer_(&tokenizer), options_(&options), encoder_(tokenizer.encoder()) {}

  Part operator()(const Chunk& chunk) {
    Part part{.train = {}, .valid = {}, .bytes = chunk.bytes.size()};
    for_each_passage(chunk, options_->data.field, options_->data.valid_share,
                     !tokenizer_->takes_any_bytes(), [&](const Passage& passage) {
                       Tokens& tokens = passage.valid ? part.valid : part.train;
                       if (passage.starts_document && tokenizer_->separator() >= 0)
                         tokens.push_back(static_cast<std::uint32_t>(tokenizer_->separator()));
                       encoder_->encode(passage.text, tokens);
                       (passage.valid ? valid : train)
                           .add(passage.text, passage.starts_document, passage.ends_document);
                     });
    return part;
  }

  PairCounts train, valid;

 private:
  const Tokenizer* tokenizer_;
  const TextOptions* options_;
  std::unique_ptr<Encoder> encoder_;
};

// Writes a token file. The first separator is left out, because separators are only between
// documents.
class TokenFileWriter {
 public:
  TokenFileWriter(const std::filesystem::path& path, const Tokenizer& tokenizer)
      : writer_(path, tokenizer.vocabulary()), leading_separator_(tokenizer.separator() >= 0) {}

  // Returns the tokens that were written.
  std::span<const std::uint32_t> write(std::span<const std::uint32_t> tokens) {
    if (tokens.empty()) return tokens;
    if (std::exchange(leading_separator_, false)) tokens = tokens.subspan(1);
    writer_.write(tokens);
    return tokens;
  }
  std::int64_t count() const { return writer_.count(); }
  std::string finish() { return writer_.finish(); }

 private:
  TokenWriter writer_;
  bool leading_separator_;
};

// Reports progress, at most every two seconds.
class Progress {
 public:
  Progress(const Say& say, std::int64_t total) : say_(say), total_(total) {}
  void advance(std::size_t bytes) {
    done_ += static_cast<std::int64_t>(bytes);
    if (system_clock().now_s() < next_s_) return;
    next_s_ = system_clock().now_s() + 2;
    say_(cat("encoding text: ", format_bytes(static_cast<double>(done_)), " of ",
             format_bytes(static_cast<double>(total_))));
  }

 private:
  const Say& say_;
  std::int64_t total_, done_ = 0;
  double next_s_ = system_clock().now_s() + 2;
};

std::int64_t total_bytes(const Corpus& corpus) {
  std::int64_t total = 0;
  for (const Segment& segment : corpus.segments) total += segment.end - segment.begin;
  return total;
}

}  // namespace

Encoded encode_corpus(const Corpus& corpus, const Tokenizer& tokenizer, const TextOptions& options,
                      const std::filesystem::path& folder, const Say& say) {
  TokenFileWriter train(folder / "train.tok", tokenizer), valid(folder / "valid.tok", tokenizer);
  std::vector<std::int64_t> lengths;
  for (const std::string& piece : tokenizer.pieces())
    lengths.push_back(static_cast<std::int64_t>(piece.size()));
  std::vector<Worker> workers;
  for (std::size_t i = 0; i < worker_count(); ++i) workers.emplace_back(tokenizer, options);

  Encoded encoded;
  Progress progress(say, total_bytes(corpus));
  ChunkReader reader(corpus.files, corpus.segments, cut_for(tokenizer));
  ordered_parallel<Chunk, Part>([&](Chunk& chunk) { return reader.next(chunk); }, workers,
                                [&](const Part& part) {
                                  train.write(part.train);
                                  const bool first = valid.count() == 0;
                                  const auto written = valid.write(part.valid);
                                  for (const std::uint32_t token : written)
                                    encoded.valid_bytes += lengths[token];
                                  if (first && !written.empty())
                                    encoded.valid_bytes -= lengths[written[0]];
                                  progress.advance(part.bytes);
                                });
  encoded.train_tokens = train.count();
  encoded.valid_tokens = valid.count();
  encoded.train_hash = train.finish();
  encoded.valid_hash = valid.finish();
  for (std::size_t i = 1; i < workers.size(); ++i) {
    workers[0].train.add(workers[i].train);
    workers[0].valid.add(workers[i].valid);
  }
  encoded.pair_bits_per_byte = pair_bits_per_byte(workers[0].train, workers[0].valid);
  return encoded;
}

}  // namespace lockstep::textgen
