// The layout of shards that hold whole parameters: bins of equal length, one per rank.
#include "planning/batch/buckets.h"

#include "core/base/check.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

// Smaller parameters are never cut. So biases and norms lie in the same buckets as their matrices.
constexpr std::int64_t smallest_to_cut = 1 << 16;

std::int64_t padded(std::int64_t size, std::int64_t alignment) {
  return std::max(alignment, (size + alignment - 1) / alignment * alignment);
}

class WholeLayout {
 public:
  WholeLayout(const std::vector<std::int64_t>& sizes, std::int64_t ranks, std::int64_t bytes)
      : sizes_(sizes), ranks_(ranks), bytes_(bytes) {
    made_.layout.offsets.resize(sizes.size());
    made_.layout.ends.resize(sizes.size());
  }

  void add_whole(std::size_t parameter) {
    whole_.push_back(parameter);
    whole_elements_ += padded(sizes_[parameter], arena_alignment);
    if (whole_elements_ * 4 < wanted_bytes()) return;
    if (longest(bins()) * ranks_ * 7 <= whole_elements_ * 8) close_whole();
  }

  void add_cut(std::size_t parameter) {
    cut_.push_back(parameter);
    cut_elements_ += padded(sizes_[parameter], arena_alignment * ranks_);
    if (cut_elements_ * 4 >= wanted_bytes()) close_cut();
  }

  BucketedLayout finish() {
    if (!whole_.empty()) close_whole();
    if (!cut_.empty()) close_cut();
    return std::move(made_);
  }

 private:
  struct Bin {
    std::vector<std::size_t> parameters;
    std::int64_t elements = 0;
  };

  std::int64_t wanted_bytes() const {
    return made_.buckets.empty() ? smallest_bucket_bytes : bytes_;
  }

  // Places the largest parameter first, each into the bin with the fewest elements.
  std::vector<Bin> bins() const {
    std::vector<std::size_t> order = whole_;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sizes_[a] > sizes_[b]; });
    std::vector<Bin> bins(static_cast<std::size_t>(ranks_));
    for (const std::size_t parameter : order) {
      Bin& least = *std::min_element(bins.begin(), bins.end(), [](const Bin& a, const Bin& b) {
        return a.elements < b.elements;
      });
      least.parameters.push_back(parameter);
      least.elements += padded(sizes_[parameter], arena_alignment);
    }
    return bins;
  }

  static std::int64_t longest(const std::vector<Bin>& bins) {
    std::int64_t most = 0;
    for (const Bin& bin : bins) most = std::max(most, bin.elements);
    return most;
  }

  void place(std::size_t parameter, std::int64_t begin, std::int64_t end, Bucket& bucket) {
    made_.layout.offsets[parameter] = begin;
    made_.layout.ends[parameter] = end;
    bucket.parameters.push_back(static_cast<std::int64_t>(parameter));
  }

  void close(Bucket bucket, std::int64_t end) {
    bucket.end = made_.layout.elements = end;
    made_.buckets.push_back(std::move(bucket));
  }

  void close_whole() {
    const std::vector<Bin> filled = bins();
    const std::int64_t length = longest(filled);
    Bucket bucket{.begin = made_.layout.elements, .end = 0, .parameters = {}};
    std::int64_t begin = bucket.begin;
    for (const Bin& bin : filled) {
      std::int64_t at = begin;
      for (const std::size_t parameter : bin.parameters) {
        const std::int64_t end = at + padded(sizes_[parameter], arena_alignment);
        place(parameter, at, end, bucket);
        at = end;
      }
      begin += length;
    }
    close(std::move(bucket), begin);
    whole_.clear();
    whole_elements_ = 0;
  }

  void close_cut() {
    Bucket bucket{.begin = made_.layout.elements, .end = 0, .parameters = {}};
    std::int64_t at = bucket.begin;
    for (const std::size_t parameter : cut_) {
      const std::int64_t end = at + padded(sizes_[parameter], arena_alignment * ranks_);
      place(parameter, at, end, bucket);
      at = end;
    }
    close(std::move(bucket), at);
    cut_.clear();
    cut_elements_ = 0;
  }

  const std::vector<std::int64_t>& sizes_;
  std::int64_t ranks_, bytes_;
  BucketedLayout made_;
  // Parameters of the open bucket of each kind.
  std::vector<std::size_t> whole_, cut_;
  std::int64_t whole_elements_ = 0, cut_elements_ = 0;
};

}  // namespace

BucketedLayout lay_out_whole(const std::vector<std::int64_t>& sizes, const std::vector<bool>& whole,
                             std::int64_t ranks, std::int64_t bytes) {
  LOCKSTEP_CHECK(ranks > 0 && whole.size() == sizes.size());
  WholeLayout layout(sizes, ranks, bytes);
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (whole[i] || sizes[i] < smallest_to_cut)
      layout.add_whole(i);
    else
      layout.add_cut(i);
  }
  return layout.finish();
}

}  // namespace lockstep
