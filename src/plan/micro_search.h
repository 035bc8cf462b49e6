// Which micro-batches to try out, to find the largest that fits with few tries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lockstep {

// Memory grows with the micro-batch about as fixed + per_sample x micro: a try that fits says how
// far it will go. The outcome depends on what the tries measured only.
class MicroSearch {
 public:
  // share: samples of a rank in a step, whose divisors are the candidates. first: a guess.
  // fixed_bytes: of a rank without any sample. available_bytes: what may be used.
  MicroSearch(std::int64_t share, std::int64_t first, double fixed_bytes, double available_bytes);

  std::optional<std::int64_t> next() const;  // what to try; nothing: `largest` is the answer
  // peak_bytes: what was used at most; nothing where memory ran out.
  void tried(std::int64_t micro, std::optional<double> peak_bytes);
  std::int64_t largest() const { return good_; }  // that fits; 0: none
  double peak_bytes() const { return good_peak_; }

 private:
  std::vector<std::int64_t> divisors_;  // rising
  std::int64_t first_;
  double fixed_bytes_, available_bytes_;
  std::int64_t good_ = 0, bad_ = 0;  // the largest that fits, the smallest that does not (0: none)
  double good_peak_ = 0;
  std::int64_t last_micro_ = 0;  // measured last
  double last_peak_ = 0;
  std::optional<double> predicted_;  // the largest that would fit, as a number
};

}  // namespace lockstep
