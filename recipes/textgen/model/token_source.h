// Provides the tokens of a data set, from a file or from a random generator.
#pragma once

#include "recipes/textgen/options/token_file.h"

#include <cstdint>
#include <filesystem>

namespace lockstep::textgen {

// A stream of tokens. Several threads may read a source at once.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual std::int64_t size() const = 0;
  // Writes tokens [begin, begin + count) to `out`.
  virtual void copy(std::int64_t begin, std::int64_t count, std::int32_t* out) const = 0;
  virtual void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const = 0;
};

class FileTokens : public TokenSource {
 public:
  explicit FileTokens(const std::filesystem::path& path) : file_(path) {}
  std::int64_t size() const override { return file_.size(); }
  void copy(std::int64_t begin, std::int64_t count, std::int32_t* out) const override;
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const override;

 private:
  TokenFile file_;
};

// Token i is synthetic_token(seed, i, vocab).
class SyntheticTokens : public TokenSource {
 public:
  SyntheticTokens(std::uint64_t seed, std::int64_t size, std::int64_t vocab)
      : seed_(seed), size_(size), vocab_(vocab) {}
  std::int64_t size() const override { return size_; }
  void copy(std::int64_t begin, std::int64_t count, std::int32_t* out) const override;
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const override;

 private:
  std::uint64_t seed_;
  std::int64_t size_, vocab_;
};

}  // namespace lockstep::textgen
