// Gives each kernel the current stream, and the engine the kernels.
#include "base/check.h"
#include "cuda/activation_launch.h"
#include "cuda/adam_launch.h"
#include "cuda/cat_channels_launch.h"
#include "cuda/channel_norm_launch.h"
#include "cuda/channel_products_launch.h"
#include "cuda/chosen_boxes_launch.h"
#include "cuda/column_sums_launch.h"
#include "cuda/copy_all_launch.h"
#include "cuda/cross_entropy_launch.h"
#include "cuda/detection_loss_launch.h"
#include "cuda/dropout_launch.h"
#include "cuda/embedding_launch.h"
#include "cuda/kernels.h"
#include "cuda/layer_norm_launch.h"
#include "cuda/mask_loss_launch.h"
#include "cuda/match_boxes_launch.h"
#include "cuda/nms_launch.h"
#include "cuda/picture_input_launch.h"
#include "cuda/roi_align_launch.h"
#include "cuda/sliding_pool_launch.h"
#include "cuda/spatial_gate_launch.h"
#include "cuda/stamp_launch.h"
#include "cuda/step_scalars_launch.h"
#include "cuda/uniform_launch.h"
#include "cuda/unit_rows_launch.h"
#include "cuda/voxel_pool_launch.h"
#include "cuda/window_pool_launch.h"
#include "cuda/zero_ranges_launch.h"
#include "kernels/activation.h"
#include "kernels/adam.h"
#include "kernels/attention_gate.h"
#include "kernels/cat_channels.h"
#include "kernels/channel_products.h"
#include "kernels/chosen_boxes.h"
#include "kernels/column_sums.h"
#include "kernels/copy_all.h"
#include "kernels/cross_entropy.h"
#include "kernels/detection_loss.h"
#include "kernels/dropout.h"
#include "kernels/embedding.h"
#include "kernels/fused_norm.h"
#include "kernels/layer_norm.h"
#include "kernels/mask_loss.h"
#include "kernels/match_boxes.h"
#include "kernels/nms.h"
#include "kernels/own_kernels.h"
#include "kernels/picture_input.h"
#include "kernels/roi_align.h"
#include "kernels/spatial_paths.h"
#include "kernels/step_scalars.h"
#include "kernels/uniform.h"
#include "kernels/unit_rows.h"
#include "kernels/zero_ranges.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace lockstep {
namespace {

void run_dropout(const DropoutArguments& arguments) {
  const DropoutLaunch launch{.x = arguments.x,
                             .y = arguments.y,
                             .dtype = kernel_dtype(arguments.dtype).value(),
                             .rows = arguments.rows,
                             .row_elements = arguments.row_elements,
                             .offsets = arguments.offsets,
                             .items = arguments.items,
                             .rule = dropout_rule(arguments.p),
                             .counters = arguments.counters,
                             .layer = arguments.layer};
  C10_CUDA_CHECK(launch_dropout(launch, c10::cuda::getCurrentCUDAStream()));
}

void run_cross_entropy(const CrossEntropyArguments& arguments) {
  C10_CUDA_CHECK(launch_cross_entropy(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_column_sums(const ColumnSums& arguments) {
  C10_CUDA_CHECK(launch_column_sums(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_copies(const CopyLaunch& launch) {
  C10_CUDA_CHECK(launch_copies(launch, c10::cuda::getCurrentCUDAStream()));
}

void run_zero_ranges(const ZeroPieces& pieces) {
  C10_CUDA_CHECK(launch_zero_pieces(pieces, c10::cuda::getCurrentCUDAStream()));
}

void run_adam(const AdamArguments& arguments) {
  C10_CUDA_CHECK(launch_adam(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_embedding_forward(const EmbeddingForward& arguments) {
  C10_CUDA_CHECK(launch_embedding_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_embedding_backward(const EmbeddingBackward& arguments) {
  C10_CUDA_CHECK(launch_embedding_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_embedding_sum(const EmbeddingSum& arguments) {
  C10_CUDA_CHECK(launch_embedding_sum(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_activation_forward(const ActivationArguments& arguments) {
  C10_CUDA_CHECK(launch_activation_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_activation_backward(const ActivationArguments& arguments) {
  C10_CUDA_CHECK(launch_activation_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_layer_norm_forward(const LayerNormForward& arguments) {
  C10_CUDA_CHECK(launch_layer_norm_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_layer_norm_backward(const LayerNormBackward& arguments) {
  C10_CUDA_CHECK(launch_layer_norm_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_match(const MatchArguments& arguments) {
  C10_CUDA_CHECK(launch_match(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_match_regions(const RegionMatchArguments& arguments) {
  C10_CUDA_CHECK(launch_match_regions(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_detection_loss_forward(const DetectionLossForward& arguments) {
  C10_CUDA_CHECK(launch_detection_loss_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_detection_loss_backward(const DetectionLossBackward& arguments) {
  C10_CUDA_CHECK(launch_detection_loss_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_decode_chosen(const DecodeChosen& arguments) {
  C10_CUDA_CHECK(launch_decode_chosen(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_gather_boxes(const GatherBoxes& arguments) {
  C10_CUDA_CHECK(launch_gather_boxes(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_unit_rows_forward(const UnitRows& arguments) {
  C10_CUDA_CHECK(launch_unit_rows_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_unit_rows_backward(const UnitRows& arguments) {
  C10_CUDA_CHECK(launch_unit_rows_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_sliding_pool_forward(const SlidingPoolForward& arguments) {
  C10_CUDA_CHECK(launch_sliding_pool_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_sliding_pool_backward(const SlidingPoolBackward& arguments) {
  C10_CUDA_CHECK(launch_sliding_pool_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_channel_norm_forward(const ChannelNormForward& arguments) {
  C10_CUDA_CHECK(launch_channel_norm_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_channel_norm_backward(const ChannelNormBackward& arguments) {
  C10_CUDA_CHECK(launch_channel_norm_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_channel_products_forward(const ChannelProducts& arguments) {
  C10_CUDA_CHECK(launch_channel_products_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_channel_products_backward(const ChannelProducts& arguments) {
  C10_CUDA_CHECK(launch_channel_products_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_voxel_pool_forward(const VoxelPoolForward& arguments) {
  C10_CUDA_CHECK(launch_voxel_pool_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_voxel_pool_backward(const VoxelPoolBackward& arguments) {
  C10_CUDA_CHECK(launch_voxel_pool_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_spatial_gate_forward(const SpatialGateForward& arguments) {
  C10_CUDA_CHECK(launch_spatial_gate_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_spatial_gate_backward(const SpatialGateBackward& arguments) {
  C10_CUDA_CHECK(launch_spatial_gate_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_mask_loss_forward(const MaskLossForward& arguments) {
  C10_CUDA_CHECK(launch_mask_loss_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_mask_loss_backward(const MaskLossBackward& arguments) {
  C10_CUDA_CHECK(launch_mask_loss_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_join_channels(const CatChannels& arguments) {
  C10_CUDA_CHECK(launch_join_channels(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_part_channels(const CatChannels& arguments) {
  C10_CUDA_CHECK(launch_part_channels(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_window_pool_forward(const WindowPoolForward& arguments) {
  C10_CUDA_CHECK(launch_window_pool_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_window_pool_backward(const WindowPoolBackward& arguments) {
  C10_CUDA_CHECK(launch_window_pool_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_roi_align_forward(const RoiAlignForward& arguments) {
  C10_CUDA_CHECK(launch_roi_align_forward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_roi_align_backward(const RoiAlignBackward& arguments) {
  C10_CUDA_CHECK(launch_roi_align_backward(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_nms_overlaps(const NmsArguments& arguments) {
  C10_CUDA_CHECK(launch_nms_overlaps(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_nms_keep(const NmsArguments& arguments) {
  C10_CUDA_CHECK(launch_nms_keep(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_picture_input(const PictureArguments& arguments) {
  C10_CUDA_CHECK(launch_picture_input(arguments, c10::cuda::getCurrentCUDAStream()));
}

void run_step_factors(const StepFactorsLaunch& launch) {
  C10_CUDA_CHECK(launch_step_factors(launch, c10::cuda::getCurrentCUDAStream()));
}

void run_own_numbers(const OwnNumbersLaunch& launch) {
  C10_CUDA_CHECK(launch_own_numbers(launch, c10::cuda::getCurrentCUDAStream()));
}

void run_dropped_step(const DroppedStepLaunch& launch) {
  C10_CUDA_CHECK(launch_dropped_step(launch, c10::cuda::getCurrentCUDAStream()));
}

void run_update_scalars(const UpdateScalarsLaunch& launch) {
  C10_CUDA_CHECK(launch_update_scalars(launch, c10::cuda::getCurrentCUDAStream()));
}

void run_whole_numbers(const WholeNumbersLaunch& launch) {
  C10_CUDA_CHECK(launch_whole_numbers(launch, c10::cuda::getCurrentCUDAStream()));
}

void run_uniform(const UniformArguments& arguments) {
  C10_CUDA_CHECK(launch_uniform(arguments, c10::cuda::getCurrentCUDAStream()));
}

}  // namespace

void stamp_device_time(const at::Tensor& slot) {
  LOCKSTEP_CHECK(slot.is_cuda() && slot.scalar_type() == at::kDouble && slot.numel() == 1);
  C10_CUDA_CHECK(launch_stamp(slot.mutable_data_ptr<double>(), c10::cuda::getCurrentCUDAStream()));
}

bool register_kernels() {
  if (!dropout_runs_here()) return false;
  register_cuda_dropout(&run_dropout);
  register_cuda_uniform(&run_uniform);
  register_cuda_cross_entropy(&run_cross_entropy);
  register_cuda_adam(&run_adam);
  register_cuda_column_sums(&run_column_sums);
  register_cuda_copy(&run_copies);
  register_cuda_zero_ranges(&run_zero_ranges);
  register_cuda_cat_channels({.join = &run_join_channels, .part = &run_part_channels});
  register_cuda_embedding({.forward = &run_embedding_forward,
                           .backward = &run_embedding_backward,
                           .sum = &run_embedding_sum});
  register_cuda_activation(
      {.forward = &run_activation_forward, .backward = &run_activation_backward});
  register_cuda_layer_norm(
      {.forward = &run_layer_norm_forward, .backward = &run_layer_norm_backward});
  register_cuda_channel_norm(
      {.forward = &run_channel_norm_forward, .backward = &run_channel_norm_backward});
  register_cuda_attention_gate({.pool_forward = &run_voxel_pool_forward,
                                .pool_backward = &run_voxel_pool_backward,
                                .gate_forward = &run_spatial_gate_forward,
                                .gate_backward = &run_spatial_gate_backward});
  register_cuda_match({.anchors = &run_match, .regions = &run_match_regions});
  register_cuda_detection_loss(
      {.forward = &run_detection_loss_forward, .backward = &run_detection_loss_backward});
  register_cuda_channel_products(
      {.forward = &run_channel_products_forward, .backward = &run_channel_products_backward});
  register_cuda_chosen_boxes({.decode = &run_decode_chosen, .gather = &run_gather_boxes});
  register_cuda_unit_rows({.forward = &run_unit_rows_forward, .backward = &run_unit_rows_backward});
  register_cuda_mask_loss({.forward = &run_mask_loss_forward, .backward = &run_mask_loss_backward});
  register_cuda_nms({.overlaps = &run_nms_overlaps, .keep = &run_nms_keep});
  register_cuda_picture_input(&run_picture_input);
  register_cuda_roi_align({.forward = &run_roi_align_forward, .backward = &run_roi_align_backward});
  register_cuda_sliding_pool(
      {.forward = &run_sliding_pool_forward, .backward = &run_sliding_pool_backward});
  register_cuda_step_scalars({.factors = &run_step_factors,
                              .own = &run_own_numbers,
                              .dropped = &run_dropped_step,
                              .update = &run_update_scalars,
                              .whole = &run_whole_numbers});
  register_cuda_window_pool(
      {.forward = &run_window_pool_forward, .backward = &run_window_pool_backward});
  return true;
}

}  // namespace lockstep
