// Computes layouts and the numbers of blocks.
#include "ops/shared/voxel_layout.h"

#include "core/base/check.h"
#include "ops/shared/own_kernels.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr std::int64_t threads = 256;
// Blocks for all rows together. They are enough for the largest GPUs, so that the last blocks to
// run are a small part of the work.
constexpr std::int64_t wanted_blocks = 132 * 32;
// Voxels that a thread takes in a block. With fewer, adding up the threads would cost too much.
constexpr std::int64_t fewest_turns = 4, most_turns = 32;
// Blocks for a row that is the whole tensor. As many as run at once, because the sums of all blocks
// are added up for each channel.
constexpr std::int64_t blocks_at_once = 132 * 3;

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t groups_of(const VoxelLayout& layout) {
  return layout.vectors ? layout.channels / 8 : layout.channels;
}

// Divides the channels among blocks. A block has `of_block` vectors of channels, or all if there
// are fewer.
void set_groups(VoxelLayout& layout, std::int64_t of_block = threads) {
  const std::int64_t groups = groups_of(layout);
  layout.block_groups = static_cast<int>(std::min(groups, of_block));
  layout.slabs = static_cast<int>(divided_up(groups, layout.block_groups));
}

// The number of turns in which a block's threads go through all voxels of a row.
std::int64_t turns_of(const VoxelLayout& layout) {
  return divided_up(layout.voxels, threads / layout.block_groups);
}

// Divides a row into chunks of about `turns` turns. All chunks have the same size, except that the
// last one may be smaller.
void set_chunks(VoxelLayout& layout, std::int64_t turns) {
  layout.chunk_voxels = divided_up(layout.voxels, divided_up(turns_of(layout), turns));
  layout.chunks = divided_up(layout.voxels, layout.chunk_voxels);
}

void share_out(VoxelLayout& layout) {
  set_groups(layout);
  set_chunks(layout,
             std::clamp(turns_of(layout) * layout.rows / wanted_blocks, fewest_turns, most_turns));
}

}  // namespace

at::Tensor lying_densely(const at::Tensor& tensor, at::MemoryFormat format) {
  const at::Tensor dense = tensor.contiguous(format);
  return aligned(dense) ? dense : dense.clone(format);
}

at::MemoryFormat channels_last_format(const at::Tensor& x) {
  return x.dim() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d;
}

VoxelLayout voxel_layout(const at::Tensor& x) {
  LOCKSTEP_CHECK(x.is_contiguous(x.suggest_memory_format()) && x.numel() > 0 && aligned(x));
  if (!x.is_contiguous()) return channels_last_layout(x);
  VoxelLayout layout{.dtype = kernel_dtype(x.scalar_type()).value(), .together = true};
  const std::int64_t voxels = x.numel() / (x.size(0) * x.size(1));
  layout.vectors = voxels % 8 == 0;
  layout.rows = layout.statistics = x.size(0) * x.size(1);
  layout.channels = layout.vectors ? 8 : 1;
  layout.voxels = voxels / layout.channels;
  share_out(layout);
  return layout;
}

VoxelLayout channels_last_layout(const at::Tensor& x) {
  LOCKSTEP_CHECK(x.is_contiguous(channels_last_format(x)) && x.numel() > 0 && aligned(x));
  VoxelLayout layout{.dtype = kernel_dtype(x.scalar_type()).value(),
                     .rows = x.size(0),
                     .channels = x.size(1),
                     .vectors = x.size(1) % 8 == 0,
                     .statistics = x.size(0) * x.size(1)};
  layout.voxels = x.numel() / layout.statistics;
  share_out(layout);
  return layout;
}

VoxelLayout whole_batch_layout(const at::Tensor& x) {
  VoxelLayout layout = channels_last_layout(x);
  layout.voxels *= layout.rows;
  layout.rows = 1;
  layout.statistics = layout.channels;
  const bool narrow = layout.vectors && layout.channels % reader_channels == 0;
  set_groups(layout, narrow ? reader_channels / 8 : threads);
  const std::int64_t blocks = std::max<std::int64_t>(1, blocks_at_once / layout.slabs);
  set_chunks(layout, std::max(fewest_turns, divided_up(turns_of(layout), blocks)));
  layout.finished_by_readers = narrow && layout.chunks <= reader_chunks;
  return layout;
}

}  // namespace lockstep
