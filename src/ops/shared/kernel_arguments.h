// Arguments of our own kernels: plain pointers and sizes, for sources with and without torch.
#pragma once

#include <cstdint>

namespace lockstep {

enum class KernelDtype { f32, bf16, f16 };

// Everything is on the device. logits: [rows, classes], dense. A target that is not below `classes`
// stops the device. A row with a negative target does not count.
struct CrossEntropyArguments {
  void* logits = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  const std::int64_t* targets = nullptr;
  const float* scale = nullptr;
  float* losses = nullptr;
  std::int64_t rows = 0, classes = 0;
};

// Dropout of [items, width] as in ops/dropout/dropout.h. width is a multiple of eight. Everything
// is on the device. If counters is null, there is no dropout.
struct BranchDropout {
  const std::int64_t* counters = nullptr;
  const std::int64_t* offsets = nullptr;  // [rows + 1], or null: items_per_row in each
  std::int64_t rows = 0, items_per_row = 0, layer = 0;
  std::uint32_t threshold = 0;  // an element is kept if its word is not below it
  float scale = 1;
};

// Everything is on the device: [rows, width], dense, aligned to 16 bytes.
struct LayerNormForward {
  const void *x = nullptr, *branch = nullptr;  // branch: or null
  const void *weight = nullptr, *bias = nullptr;
  void *sum = nullptr, *normed = nullptr;               // sum: null without a branch
  float *mean = nullptr, *inverse_deviation = nullptr;  // [rows]
  BranchDropout dropout;                                // dropout of the branch, before it is added
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0;
  float epsilon = 0;
};
struct LayerNormBackward {
  const void* of_normed = nullptr;
  const void* of_sum = nullptr;  // null: the sum has no other gradient
  const void *sum = nullptr, *weight = nullptr;
  const float *mean = nullptr, *inverse_deviation = nullptr;
  void* of_x = nullptr;
  void* of_branch = nullptr;  // with `dropout` applied; null: it would equal of_x
  BranchDropout dropout;
  float* partial = nullptr;  // [blocks, 2, width]: each block's share of the two below
  // [width], gradients are added to them; of_bias may be null
  float *of_weight = nullptr, *of_bias = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0, blocks = 0;
};

// Everything is on the device: dense rows of `columns` elements, aligned to 16 bytes. elements and
// columns are multiples of eight.
enum class Activation { gelu, gelu_tanh, relu };
struct ActivationArguments {
  // x: the input. In relu's backward pass it is the result instead. bias: [columns] or null.
  const void *x = nullptr, *bias = nullptr;
  const void* gradient = nullptr;  // of the result; backward only
  void* out = nullptr;             // the result, or the gradient of x
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t elements = 0, columns = 0;
  Activation kind = Activation::gelu;
};

// Adds the sum of all rows of matrix [rows, columns] to into [columns]. Everything is on the
// device, aligned to 16 bytes. columns is a multiple of eight. With `shares` above 1, partial
// [shares, columns] holds the sum of each share of the rows.
struct ColumnSums {
  const void* matrix = nullptr;
  float *into = nullptr, *partial = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, columns = 0, shares = 1;
};

// A flat buffer has one flag byte per this many elements. The byte is 0 if nothing was ever added
// to any of them.
constexpr std::int64_t dirty_piece = 1024;
// The number of pieces of the first `elements` elements. The last piece may be shorter.
constexpr std::int64_t dirty_pieces_of(std::int64_t elements) {
  return (elements + dirty_piece - 1) / dirty_piece;
}

// Pieces of a flat buffer to set to 0: [count, 2], the first element of each piece and its number
// of elements, at most zero_piece. Both are multiples of four. Everything is on the device.
constexpr std::int64_t zero_piece = 8192;
struct ZeroPieces {
  float* flat = nullptr;
  const std::int64_t* pieces = nullptr;
  std::int64_t count = 0;
  const std::uint8_t* dirty = nullptr;  // a flag of 0 says that the piece holds zeros; null:
                                        // unknown
};

// Neighbouring weights with the same rates. Everything is on the device and aligned to four
// elements. The number of elements is a multiple of four.
struct AdamRange {
  float *weights = nullptr, *first = nullptr, *second = nullptr;
  const void* gradients = nullptr;
  KernelDtype gradients_dtype = KernelDtype::f32;  // or bf16
  void* working = nullptr;                         // low-precision copy of the weights, or null
  const float* lr = nullptr;
  std::int64_t elements = 0;
  std::int64_t begin = 0;  // where the range begins in the flat buffer of AdamArguments::dirty
  double decay = 0;
};
// The elements that a block of the kernel updates: those of a range from `begin` on, at most
// AdamArguments::chunk.
struct AdamChunk {
  std::int64_t range = 0, begin = 0;
};
constexpr std::int64_t adam_chunk = 8192, adam_small_chunk = 1024;
constexpr std::int64_t adam_factors = 5;  // values per range that all its elements share

// One Adam or AdamW update of all ranges. Everything is on the device.
struct AdamArguments {
  const AdamRange* ranges = nullptr;
  std::int64_t range_count = 0;
  float* factors = nullptr;  // [ranges, adam_factors]
  const AdamChunk* chunks = nullptr;
  std::int64_t chunk_count = 0;
  std::int64_t chunk = adam_chunk;  // elements of a chunk
  KernelDtype working_dtype = KernelDtype::bf16;
  const float* step = nullptr;  // count of updates, including this one
  // Gradients are divided by `divisor`; `skip` 1: nothing changes.
  const float *divisor = nullptr, *skip = nullptr;
  double beta1 = 0, beta2 = 0, eps = 0;
  bool decoupled = true;  // AdamW
  // A flag of 0 says that gradients and moments are 0. Null: unknown. eps must be above 0.
  const std::uint8_t* dirty = nullptr;
};

// Everything is on the device. Rows [rows, width] are dense and aligned to 16 bytes. width is a
// multiple of eight. Row r holds token tokens[r] at position r % length.
struct EmbeddingForward {
  const std::int64_t* tokens = nullptr;
  const void *weight = nullptr, *positions = nullptr;  // [vocab, width], [length, width]
  void* out = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0, length = 0;
  std::int64_t vocab = 0;  // a token that is not below it, or negative, stops the device
};
struct EmbeddingBackward {
  const std::int64_t* tokens = nullptr;
  const void* gradient = nullptr;  // of the rows
  // Gradients are added to them; of_positions may be null.
  float *of_weight = nullptr, *of_positions = nullptr;
  // All rows, sorted so that those of each token are together and ascending. Each sum is then added
  // up in this order. Null: in any order.
  const std::int64_t* by_token = nullptr;
  // With by_token: [pieces, 2, width]. A thread adds up `piece` rows of by_token.
  float* partial = nullptr;
  std::int64_t piece = 0;
  // Flags that are set where something is added to of_weight. of_weight begins at element
  // dirty_begin of the flat buffer. Null: no flags.
  std::uint8_t* dirty = nullptr;
  std::int64_t dirty_begin = 0;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0, length = 0;
};
// Few rows have short pieces, so that enough threads hide the latency of loads.
constexpr std::int64_t embedding_few_rows = 8192, embedding_short_piece = 8, embedding_piece = 32;

// out [rows, width]: row r is the sum of row indices[r] of each table. Everything is on the device,
// aligned to 16 bytes. width is a multiple of eight.
constexpr int most_summed_tables = 3;
struct SummedTable {
  const std::int64_t* indices = nullptr;
  const void* table = nullptr;
  std::int64_t size = 0;  // an index that is not below it, or negative, stops the device
  // The index of the range of EmbeddingSum::deferred that begins where the table does. Rows are
  // read with the values that they have after that update. Below 0: rows are read with their
  // present values.
  std::int64_t deferred_range = -1;
};
struct EmbeddingSum {
  SummedTable tables[most_summed_tables];
  AdamArguments deferred;
  int count = 0;
  void* out = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0;
};

// out [m, n] = left [m, k] times right [k, n], plus bias [n] if not null. With `accumulate` it adds
// addend [m, n], in out's type, or if that is null the present values of `out`. Everything is on
// the device and dense by rows. A transposed operand is stored transposed: left as [k, m], right as
// [n, k].
struct MatmulArguments {
  const void *left = nullptr, *right = nullptr, *bias = nullptr, *addend = nullptr;
  void* out = nullptr;
  KernelDtype dtype = KernelDtype::bf16;  // type of left, right and bias
  bool out_is_f32 = false;                // otherwise of that dtype too
  bool left_transposed = false, right_transposed = false, accumulate = false;
  std::int64_t m = 0, n = 0, k = 0;
  // The number of products, and the distance in elements from the matrices of one product to those
  // of the next. addend and out have the same stride.
  std::int64_t batch = 1, left_stride = 0, right_stride = 0, out_stride = 0;
  float alpha = 1, beta = 1;  // alpha: factor of the product; beta: factor of the addend
};

// Numbers in [0, 1), as in ops/uniform/uniform.h. Everything is on the device. counters: i64 [3].
struct UniformArguments {
  float* numbers = nullptr;  // [rows, row_numbers]
  const std::int64_t* counters = nullptr;
  std::int64_t rows = 0, row_numbers = 0, layer = 0;
};

// Attention over packed projections, and its gradient. Everything is on the device and dense.
struct AttentionArguments {
  const void* qkv = nullptr;  // [batch, length, 3, heads, width]: queries, keys, values
  void* out = nullptr;        // [batch, length, heads, width]; backward reads it
  // [batch, heads, length]: log of the sum of exponentials; backward reads it
  float* log_sums = nullptr;
  const void* of_out = nullptr;  // backward only
  void* of_qkv = nullptr;        // backward only
  // [batch], each from 1 to `length`. Positions from there on are padding, and their results may be
  // anything. Null: there is no padding.
  const std::int32_t* lengths = nullptr;
  KernelDtype dtype = KernelDtype::bf16;
  std::int64_t batch = 0, length = 0, heads = 0, width = 0;
  bool causal = true;  // no position sees a later one
};

}  // namespace lockstep
