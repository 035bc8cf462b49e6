// The position of each parameter in the flat buffers, and the ranges (buckets) that are reduced
// together.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep {

// Offsets are in elements. In the buffers, parameters lie in reverse order of registration, because
// gradients become ready in about that order. Each parameter starts at a multiple of this
// alignment.
inline constexpr std::int64_t arena_alignment = 64;

struct ArenaLayout {
  std::vector<std::int64_t> offsets;  // where each parameter begins, by registration index
  // where the padding of each parameter ends, by registration index
  std::vector<std::int64_t> ends;
  std::int64_t elements = 0;  // size of a whole buffer with padding
};

// alignment: `arena_alignment` times the number of equal shards into which each bucket is cut.
ArenaLayout lay_out(const std::vector<std::int64_t>& sizes,
                    std::int64_t alignment = arena_alignment);

struct Bucket {
  std::int64_t begin = 0, end = 0;       // elements of the buffers
  std::vector<std::int64_t> parameters;  // registration indexes of the parameters in it
};

inline constexpr std::int64_t smallest_bucket_bytes = 1 << 20, usual_bucket_bytes = 25 << 20;
// Whether fp32 gradients of `elements` elements fill the smallest bucket.
constexpr bool fills_a_bucket(std::int64_t elements) {
  return elements * 4 >= smallest_bucket_bytes;
}

// Cuts the layout into consecutive buckets that cover [0, elements). No bucket cuts a parameter.
// - The first bucket has at least `smallest_bucket_bytes` of fp32, so that it is ready early.
// - The middle buckets have at least `bytes`.
// - The last buckets are small, because no computation overlaps with the last bucket of a backward
//   pass. The last one has `smallest_bucket_bytes`, the one before it twice that, and so on up to
//   `bytes`.
// - The bucket in front of the small ones has the rest.
std::vector<Bucket> cut_buckets(const ArenaLayout& layout, const std::vector<std::int64_t>& sizes,
                                std::int64_t bytes = usual_bucket_bytes);

struct BucketedLayout {
  ArenaLayout layout;
  std::vector<Bucket> buckets;  // consecutive; together they cover [0, elements)
};

// Makes a layout with `ranks` equal shards per bucket. No shard cuts a parameter that is marked in
// `whole`. There are two kinds of buckets:
// - A bucket of bins holds marked parameters and small parameters. It has one bin per rank. All
//   bins have the length of the longest, and each parameter lies in one bin. The bucket grows
//   beyond `bytes` until its bins together are 7/8 full. Only the last such bucket may end earlier.
// - A cut bucket holds the other parameters. Shards may cut these parameters at multiples of
//   `arena_alignment`, as in lay_out.
//
// Both kinds are filled in reverse order of registration, and stored in the order in which they are
// full. sizes, whole: by registration index.
BucketedLayout lay_out_whole(const std::vector<std::int64_t>& sizes, const std::vector<bool>& whole,
                             std::int64_t ranks, std::int64_t bytes = usual_bucket_bytes);

// The time of an all-reduce of n bytes is latency_s + n / bytes_per_s.
struct LinkSpeed {
  double latency_s = 0, bytes_per_s = 0;
};

// Computes the speed of a link from two measurements. If the larger size takes no more time, the
// latency is the whole time of the small measurement.
LinkSpeed fit_link_speed(double small_bytes, double small_s, double large_bytes, double large_s);

// The bucket size with the lowest cost. Buckets of b bytes cost one latency for each of
// gradient_bytes / b buckets. Gradients that are complete also wait for the rest of their bucket,
// which is up to b bytes. The sum of both costs is lowest at sqrt(gradient_bytes * latency *
// speed). The result is clamped between the smallest bucket and all gradients.
std::int64_t best_bucket_bytes(const LinkSpeed& link, std::int64_t gradient_bytes);

}  // namespace lockstep
