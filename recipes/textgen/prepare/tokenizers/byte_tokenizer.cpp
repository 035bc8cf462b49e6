// A tokenizer with one token per byte.
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {
namespace {

class ByteEncoder : public Encoder {
 public:
  void encode(std::string_view text, Tokens& out) override {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    out.insert(out.end(), bytes, bytes + text.size());
  }
};

class ByteTokenizer : public Tokenizer {
 public:
  std::string kind() const override { return "bytes"; }
  std::int64_t vocabulary() const override { return 256; }
  std::int64_t separator() const override { return 0; }
  bool takes_any_bytes() const override { return true; }
  bool may_cut_anywhere() const override { return true; }
  std::string piece(std::int64_t token) const override {
    return token == 0 ? std::string() : std::string(1, static_cast<char>(token));
  }
  std::unique_ptr<Encoder> encoder() const override { return std::make_unique<ByteEncoder>(); }
};

}  // namespace

std::unique_ptr<Tokenizer> make_byte_tokenizer() { return std::make_unique<ByteTokenizer>(); }

}  // namespace lockstep::textgen
