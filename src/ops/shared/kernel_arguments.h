// Arguments of our CUDA kernels: plain pointers and sizes. This header does not include torch, so
// CUDA sources can include it. A member `of_x` is the gradient of x. All pointers are to device
// memory.
#pragma once

#include <cstdint>

namespace lockstep {

enum class KernelDtype { f32, bf16, f16 };

// Computes the cross-entropy of each row of logits, and its gradient.
//   logits    [rows, classes], dense; overwritten with the gradient
//   targets   [rows]; a row with a negative target has no loss and no gradient
//   scale     [1], the factor of the gradient
//   losses    [rows], without the factor `scale`
// A target of `classes` or more fails a device-side assertion.
struct CrossEntropyArguments {
  void* logits = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  const std::int64_t* targets = nullptr;
  const float* scale = nullptr;
  float* losses = nullptr;
  std::int64_t rows = 0, classes = 0;
};

// Dropout of a tensor [items, width] as in ops/dropout/dropout.h. width is a multiple of eight. If
// counters is null, there is no dropout.
struct BranchDropout {
  const std::int64_t* counters = nullptr;
  const std::int64_t* offsets = nullptr;  // [rows + 1]; null if each row has items_per_row items
  std::int64_t rows = 0, items_per_row = 0, layer = 0;
  std::uint32_t threshold = 0;  // an element is kept if its random word is at least this
  float scale = 1;
};

// Matrices are [rows, width], dense and aligned to 16 bytes.
struct LayerNormForward {
  const void *x = nullptr, *branch = nullptr;  // branch may be null
  const void *weight = nullptr, *bias = nullptr;
  void *sum = nullptr, *normed = nullptr;               // sum is null if branch is null
  float *mean = nullptr, *inverse_deviation = nullptr;  // [rows]
  BranchDropout dropout;                                // applied to the branch before the sum
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0;
  float epsilon = 0;
};
struct LayerNormBackward {
  const void* of_normed = nullptr;
  const void* of_sum = nullptr;  // gradient of `sum` from other operations that read it, or null
  const void *sum = nullptr, *weight = nullptr;
  const float *mean = nullptr, *inverse_deviation = nullptr;
  void* of_x = nullptr;
  void* of_branch = nullptr;  // of_x with `dropout` applied; null if there is no dropout
  BranchDropout dropout;
  float* partial = nullptr;  // [blocks, 2, width]: each block's share of of_weight, of_bias
  // [width]. The gradients are added to the values that are already there. of_bias may be null.
  float *of_weight = nullptr, *of_bias = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0, blocks = 0;
};

// All tensors are dense rows of `columns` elements, aligned to 16 bytes. elements and columns are
// multiples of eight.
enum class Activation { gelu, gelu_tanh, relu };
struct ActivationArguments {
  // x is the input of forward, but in the backward pass of relu it is the result of forward. bias
  // is [columns], or null.
  const void *x = nullptr, *bias = nullptr;
  const void* gradient = nullptr;  // gradient of the result; only for backward
  void* out = nullptr;             // the result, or the gradient of x
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t elements = 0, columns = 0;
  Activation kind = Activation::gelu;
};

// Adds the sum of all rows of `matrix`, [rows, columns], to `into`, [columns]. Both are aligned to
// 16 bytes. columns is a multiple of eight. If `shares` is above 1, the rows are divided into that
// many shares. `partial`, [shares, columns], then holds the sum of each share.
struct ColumnSums {
  const void* matrix = nullptr;
  float *into = nullptr, *partial = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, columns = 0, shares = 1;
};

// A flat buffer holds the gradients of several parameters in one array. It has one flag byte for
// each piece of this many elements. The flag is 0 as long as nothing was added to an element of the
// piece.
constexpr std::int64_t dirty_piece = 1024;
// The number of such pieces that the first `elements` elements of a flat buffer fill. The last
// piece may be shorter.
constexpr std::int64_t dirty_pieces_of(std::int64_t elements) {
  return (elements + dirty_piece - 1) / dirty_piece;
}

// The parts of a flat buffer that are set to 0. `pieces` is [count, 2]: for each part, the index of
// its first element and its number of elements, which is at most zero_piece. Both numbers are
// multiples of four.
constexpr std::int64_t zero_piece = 8192;
struct ZeroPieces {
  float* flat = nullptr;
  const std::int64_t* pieces = nullptr;
  std::int64_t count = 0;
  // Flags as described at dirty_piece. Elements whose flag is 0 are skipped. If `dirty` is null, no
  // elements are skipped.
  const std::uint8_t* dirty = nullptr;
};

// A range of adjacent weights with the same learning rate and weight decay. `first` and `second`
// are Adam's moments. All arrays are aligned to four elements. The number of elements is a multiple
// of four.
struct AdamRange {
  float *weights = nullptr, *first = nullptr, *second = nullptr;
  const void* gradients = nullptr;
  KernelDtype gradients_dtype = KernelDtype::f32;  // f32 or bf16
  void* working = nullptr;                         // low-precision copy of the weights; may be null
  const float* lr = nullptr;
  std::int64_t elements = 0;
  // The index of the range's first element in the flat buffer to which the flags
  // AdamArguments::dirty belong.
  std::int64_t begin = 0;
  double decay = 0;
};
// The elements that one thread block updates. They are at most AdamArguments::chunk elements of
// range number `range`, and begin at its element `begin`.
struct AdamChunk {
  std::int64_t range = 0, begin = 0;
};
constexpr std::int64_t adam_chunk = 8192, adam_small_chunk = 1024;
constexpr std::int64_t adam_factors = 5;  // number of elements per range in AdamArguments::factors

// One Adam or AdamW update of all ranges.
struct AdamArguments {
  const AdamRange* ranges = nullptr;
  std::int64_t range_count = 0;
  float* factors = nullptr;  // [ranges, adam_factors]
  const AdamChunk* chunks = nullptr;
  std::int64_t chunk_count = 0;
  std::int64_t chunk = adam_chunk;  // largest number of elements in a chunk
  KernelDtype working_dtype = KernelDtype::bf16;
  const float* step = nullptr;  // number of updates, including this one
  // Gradients are divided by *divisor. If *skip is not 0, nothing changes.
  const float *divisor = nullptr, *skip = nullptr;
  double beta1 = 0, beta2 = 0, eps = 0;
  bool decoupled = true;  // whether this is AdamW; else Adam
  // Flags as described at dirty_piece. A flag of 0 says that all gradients and moments of the piece
  // are 0. If `dirty` is null, all pieces may have gradients. eps must be above 0.
  const std::uint8_t* dirty = nullptr;
};

// The result, [rows, width], is dense and aligned to 16 bytes. width is a multiple of eight. Row r
// is the sum of row tokens[r] of `weight` and row r % length of `positions`.
struct EmbeddingForward {
  const std::int64_t* tokens = nullptr;
  const void *weight = nullptr, *positions = nullptr;  // [vocab, width], [length, width]
  void* out = nullptr;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0, length = 0;
  // A negative token, or one of `vocab` or more, fails a device-side assertion.
  std::int64_t vocab = 0;
};
struct EmbeddingBackward {
  const std::int64_t* tokens = nullptr;
  const void* gradient = nullptr;  // gradient of the result
  // The gradients are added to the values that are already there. of_positions may be null.
  float *of_weight = nullptr, *of_positions = nullptr;
  // The indices of all rows, sorted by token, and ascending within a token. The gradients of a
  // token are then added up in this order. If by_token is null, the order is not fixed.
  const std::int64_t* by_token = nullptr;
  // `partial` is working memory [pieces, 2, width], and is used only with by_token. A piece is
  // `piece` adjacent elements of by_token, whose rows one thread adds up.
  float* partial = nullptr;
  std::int64_t piece = 0;
  // Flags as described at dirty_piece. They are set where something is added to of_weight, which
  // begins at element dirty_begin of the flat buffer. If `dirty` is null, there are no flags.
  std::uint8_t* dirty = nullptr;
  std::int64_t dirty_begin = 0;
  KernelDtype dtype = KernelDtype::f32;
  std::int64_t rows = 0, width = 0, length = 0;
};
// If there are at most embedding_few_rows rows, pieces have embedding_short_piece rows, else
// embedding_piece rows. Shorter pieces give enough threads to hide the latency of loads.
constexpr std::int64_t embedding_few_rows = 8192, embedding_short_piece = 8, embedding_piece = 32;

// out [rows, width]: row r is the sum of row indices[r] of each table. Rows are aligned to 16
// bytes. width is a multiple of eight.
constexpr int most_summed_tables = 3;
struct SummedTable {
  const std::int64_t* indices = nullptr;
  const void* table = nullptr;
  // A negative index, or one of `size` or more, fails a device-side assertion.
  std::int64_t size = 0;
  // The index of the range of EmbeddingSum::deferred that begins where the table begins.
  // EmbeddingSum::deferred is an update that has not run yet. The kernel computes the values that
  // the rows will have after this update, and reads these. If the index is below 0, the rows are
  // read as they are.
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

// Computes out [m, n] = left [m, k] times right [k, n], plus bias [n] if it is not null. All
// matrices are dense and row-major. A transposed operand is stored as its transpose: left as [k,
// m], right as [n, k]. If `accumulate` is true, addend [m, n] is added, in the dtype of out. If
// addend is null, the present values of out are added instead.
struct MatmulArguments {
  const void *left = nullptr, *right = nullptr, *bias = nullptr, *addend = nullptr;
  void* out = nullptr;
  KernelDtype dtype = KernelDtype::bf16;  // dtype of left, right and bias
  bool out_is_f32 = false;                // whether out is f32; else it has `dtype`
  bool left_transposed = false, right_transposed = false, accumulate = false;
  std::int64_t m = 0, n = 0, k = 0;
  // `batch` is the number of products. A stride is the distance in elements from a matrix to the
  // matrix of the next product. addend has the stride of out.
  std::int64_t batch = 1, left_stride = 0, right_stride = 0, out_stride = 0;
  float alpha = 1, beta = 1;  // factors of the product and of the addend
};

// Uniform random numbers in [0, 1), as in ops/uniform/uniform.h. counters are i64 [3].
struct UniformArguments {
  float* numbers = nullptr;  // [rows, row_numbers]
  const std::int64_t* counters = nullptr;
  std::int64_t rows = 0, row_numbers = 0, layer = 0;
};

// Attention over packed projections, and its gradient. All arrays are dense.
struct AttentionArguments {
  const void* qkv = nullptr;  // [batch, length, 3, heads, width]: queries, keys and values
  void* out = nullptr;        // [batch, length, heads, width]; backward reads it
  // [batch, heads, length]: for each position, the logarithm of the sum of exponentials of its
  // scores. Backward reads it.
  float* log_sums = nullptr;
  const void* of_out = nullptr;  // only for backward
  void* of_qkv = nullptr;        // only for backward
  // [batch], each from 1 to `length`. Positions of row b from lengths[b] on are padding, and their
  // results are undefined. If lengths is null, there is no padding.
  const std::int32_t* lengths = nullptr;
  KernelDtype dtype = KernelDtype::bf16;
  std::int64_t batch = 0, length = 0, heads = 0, width = 0;
  bool causal = true;  // whether a position attends only to itself and earlier positions
};

}  // namespace lockstep
