// Sources of a data set's tokens: a file, or computed numbers.
#include "recipes/textgen/model/token_source.h"

#include "recipes/textgen/options/synthetic.h"

namespace lockstep::textgen {
namespace {

template <class Out>
void make(std::uint64_t seed, std::int64_t vocab, std::int64_t begin, std::int64_t count,
          Out* out) {
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<Out>(synthetic_token(seed, begin + i, vocab));
}

}  // namespace

void FileTokens::copy(std::int64_t begin, std::int64_t count, std::int32_t* out) const {
  file_.copy(begin, count, out);
}
void FileTokens::copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const {
  file_.copy(begin, count, out);
}

void SyntheticTokens::copy(std::int64_t begin, std::int64_t count, std::int32_t* out) const {
  make(seed_, vocab_, begin, count, out);
}
void SyntheticTokens::copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const {
  make(seed_, vocab_, begin, count, out);
}

}  // namespace lockstep::textgen
