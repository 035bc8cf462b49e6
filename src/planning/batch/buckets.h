// Where each parameter lies in the flat buffers, and which ranges are reduced together.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// Offsets in elements. Parameters lie in reverse order of registration, because gradients become
// ready in about that order. Each parameter starts at a multiple of the alignment, in elements.
inline constexpr std::int64_t arena_alignment = 64;

struct ArenaLayout {
  std::vector<std::int64_t> offsets;  // by registration index
  std::vector<std::int64_t> ends;     // the same; the end of each with its padding
  std::int64_t elements = 0;          // size of a whole buffer, padding included
};

// alignment: `arena_alignment` times the number of equal pieces that each bucket must divide into.
ArenaLayout lay_out(const std::vector<std::int64_t>& sizes,
                    std::int64_t alignment = arena_alignment);

struct Bucket {
  std::int64_t begin = 0, end = 0;       // elements of the buffers
  std::vector<std::int64_t> parameters;  // registration indexes inside
};

inline constexpr std::int64_t smallest_bucket_bytes = 1 << 20, usual_bucket_bytes = 25 << 20;
// Whether that many gradients in fp32 fill the smallest bucket.
constexpr bool fills_a_bucket(std::int64_t elements) {
  return elements * 4 >= smallest_bucket_bytes;
}

// Cuts the layout into consecutive buckets that together cover [0, elements). No bucket cuts a
// parameter. The first bucket has at least `smallest_bucket_bytes` of fp32, because it is ready
// early. The others have at least `bytes`, except the last ones. Those are small, because nothing
// hides the last bucket of a backward pass: the last has `smallest_bucket_bytes`, the one before it
// twice that, and so on up to `bytes`. The bucket in front of them has what is left.
std::vector<Bucket> cut_buckets(const ArenaLayout& layout, const std::vector<std::int64_t>& sizes,
                                std::int64_t bytes = usual_bucket_bytes);

struct BucketedLayout {
  ArenaLayout layout;
  std::vector<Bucket> buckets;  // consecutive; together they cover [0, elements)
};

// A layout with `ranks` equal shards per bucket. No shard cuts a parameter that `whole` marks.
// There are two sorts of buckets. Buckets of the first sort hold parameters that `whole` marks, and
// small ones. Such a bucket has a bin per rank. All its bins are as long as the longest, and no
// parameter lies in two bins. It grows beyond `bytes` until its bins are filled to 7/8 together;
// only the last one may end earlier. The other sort holds the rest, cut anywhere at multiples of
// `arena_alignment`, as in lay_out. Both sorts grow in reverse order of registration, and lie in
// the order in which they are complete. sizes, whole: by registration index.
BucketedLayout lay_out_whole(const std::vector<std::int64_t>& sizes, const std::vector<bool>& whole,
                             std::int64_t ranks, std::int64_t bytes = usual_bucket_bytes);

// Seconds of an all-reduce of n bytes: latency_s + n / bytes_per_s.
struct LinkSpeed {
  double latency_s = 0, bytes_per_s = 0;
};

// The line through two measurements. If the times do not grow with the bytes, the latency is the
// whole time of the small measurement.
LinkSpeed fit_link_speed(double small_bytes, double small_s, double large_bytes, double large_s);

// The bucket size with the least cost. Buckets of b bytes cost one latency for each of
// gradient_bytes / b buckets. Complete gradients wait for up to b bytes more before they are sent.
// The sum of both is least at the root of gradient_bytes x latency x speed. The result is at least
// the smallest bucket and at most all gradients at once.
std::int64_t best_bucket_bytes(const LinkSpeed& link, std::int64_t gradient_bytes);

}  // namespace lockstep
