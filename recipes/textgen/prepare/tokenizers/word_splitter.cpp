// Splits text into words as GPT-2 does.
#include "recipes/textgen/prepare/tokenizers/word_splitter.h"

#include "core/base/check.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace lockstep::textgen {
namespace {

#define WHITE                                                                        \
  "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
  "\\x{202f}\\x{205f}\\x{3000}"
constexpr const char* pattern = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" WHITE
                                "\\p{L}\\p{N}]+|[" WHITE "]+(?![^" WHITE "])|[" WHITE "]+";
#undef WHITE

}  // namespace

struct WordPattern::Code {
  pcre2_code* compiled = nullptr;
  bool jit = false;
  ~Code() { pcre2_code_free(compiled); }
};

WordPattern::WordPattern() : code_(std::make_unique<Code>()) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED,
                                  PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  LOCKSTEP_CHECK(code_->compiled != nullptr);
  code_->jit = pcre2_jit_compile(code_->compiled, PCRE2_JIT_COMPLETE) == 0;
}

WordPattern::~WordPattern() = default;

void WordPattern::split(std::string_view text,
                        const std::function<void(std::string_view)>& word) const {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(code_->compiled, nullptr), &pcre2_match_data_free);
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    // The caller guarantees valid UTF-8, so it is not checked again for each word.
    const int found = code_->jit ? pcre2_jit_match(code_->compiled, subject, text.size(), at, 0,
                                                   match.get(), nullptr)
                                 : pcre2_match(code_->compiled, subject, text.size(), at,
                                               PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
    // Every character matches one of the alternatives. If PCRE2 reaches its match limit, the rest
    // becomes one word.
    const bool whole = found > 0 && ends[0] == at && ends[1] > at;
    const std::size_t end = whole ? ends[1] : text.size();
    word(text.substr(at, end - at));
    at = end;
  }
}

}  // namespace lockstep::textgen
