// Connects the engine with the kernels, and gives each kernel the current stream.
#include "backends/cuda/kernels.h"
#include "core/base/check.h"
#include "ops/activation/activation.h"
#include "ops/activation/activation_launch.h"
#include "ops/adam/adam.h"
#include "ops/adam/adam_launch.h"
#include "ops/attention_gate/attention_gate.h"
#include "ops/attention_gate/spatial_gate_launch.h"
#include "ops/block_convolution/block_convolution.h"
#include "ops/block_convolution/block_convolution_launch.h"
#include "ops/cat_channels/cat_channels.h"
#include "ops/cat_channels/cat_channels_launch.h"
#include "ops/channel_norm/channel_norm_launch.h"
#include "ops/channel_norm/fused_norm.h"
#include "ops/channel_products/channel_products.h"
#include "ops/channel_products/channel_products_launch.h"
#include "ops/chosen_boxes/chosen_boxes.h"
#include "ops/chosen_boxes/chosen_boxes_launch.h"
#include "ops/chosen_losses/chosen_losses.h"
#include "ops/chosen_losses/chosen_losses_launch.h"
#include "ops/column_sums/column_sums.h"
#include "ops/column_sums/column_sums_launch.h"
#include "ops/copy_all/copy_all.h"
#include "ops/copy_all/copy_all_launch.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/cross_entropy/cross_entropy_launch.h"
#include "ops/detection_loss/detection_loss.h"
#include "ops/detection_loss/detection_loss_launch.h"
#include "ops/dropout/dropout.h"
#include "ops/dropout/dropout_launch.h"
#include "ops/embedding/embedding.h"
#include "ops/embedding/embedding_launch.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/layer_norm/layer_norm_launch.h"
#include "ops/linear_of_rows/linear_of_rows.h"
#include "ops/linear_of_rows/linear_of_rows_launch.h"
#include "ops/mask_loss/mask_loss.h"
#include "ops/mask_loss/mask_loss_launch.h"
#include "ops/match_boxes/match_boxes.h"
#include "ops/match_boxes/match_boxes_launch.h"
#include "ops/muon/muon.h"
#include "ops/muon/muon_launch.h"
#include "ops/nms/nms.h"
#include "ops/nms/nms_launch.h"
#include "ops/picture_input/picture_input.h"
#include "ops/picture_input/picture_input_launch.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/pointwise_moments_launch.h"
#include "ops/pooling/sliding_pool_launch.h"
#include "ops/pooling/voxel_pool_launch.h"
#include "ops/pooling/window_pool_launch.h"
#include "ops/roi_align/roi_align.h"
#include "ops/roi_align/roi_align_launch.h"
#include "ops/shared/own_kernels.h"
#include "ops/spatial/spatial_paths.h"
#include "ops/stamp/stamp_launch.h"
#include "ops/step_scalars/step_scalars.h"
#include "ops/step_scalars/step_scalars_launch.h"
#include "ops/top_rows/top_rows.h"
#include "ops/top_rows/top_rows_launch.h"
#include "ops/uniform/uniform.h"
#include "ops/uniform/uniform_launch.h"
#include "ops/unit_rows/unit_rows.h"
#include "ops/unit_rows/unit_rows_launch.h"
#include "ops/zero_ranges/zero_ranges.h"
#include "ops/zero_ranges/zero_ranges_launch.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

namespace lockstep {
namespace {

// The entry of most kernels, which are called as launch(arguments, stream).
template <auto launch, class Arguments>
void run(const Arguments& arguments) {
  C10_CUDA_CHECK(launch(arguments, c10::cuda::getCurrentCUDAStream()));
}

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

}  // namespace

void stamp_device_time(const at::Tensor& slot) {
  LOCKSTEP_CHECK(slot.is_cuda() && slot.scalar_type() == at::kDouble && slot.numel() == 1);
  C10_CUDA_CHECK(launch_stamp(slot.mutable_data_ptr<double>(), c10::cuda::getCurrentCUDAStream()));
}

bool register_kernels() {
  if (!dropout_runs_here()) return false;
  register_cuda_dropout(&run_dropout);
  register_cuda_uniform(&run<&launch_uniform>);
  register_cuda_cross_entropy(&run<&launch_cross_entropy>);
  register_cuda_adam({.factors = &run<&launch_adam_factors>, .update = &run<&launch_adam>});
  register_cuda_muon({.momentum = &run<&launch_muon_momentum>,
                      .scale = &run<&launch_muon_scale>,
                      .weights = &run<&launch_muon_weights>});
  register_cuda_column_sums(&run<&launch_column_sums>);
  register_cuda_copy(&run<&launch_copies>);
  register_cuda_zero_ranges(&run<&launch_zero_pieces>);
  register_cuda_cat_channels(
      {.join = &run<&launch_join_channels>, .part = &run<&launch_part_channels>});
  register_cuda_embedding({.forward = &run<&launch_embedding_forward>,
                           .backward = &run<&launch_embedding_backward>,
                           .sum = &run<&launch_embedding_sum>});
  register_cuda_activation(
      {.forward = &run<&launch_activation_forward>, .backward = &run<&launch_activation_backward>});
  register_cuda_layer_norm({.forward = &run<&launch_layer_norm_forward>,
                            .backward = &run<&launch_layer_norm_backward>,
                            .shares = &run<&launch_layer_norm_shares>});
  register_cuda_block_convolution({.forward = &run<&launch_block_convolution_forward>,
                                   .backward = &run<&launch_block_convolution_backward>,
                                   .runs_here = &block_convolution_runs_here});
  register_cuda_pointwise_moments(
      {.forward = &run<&launch_pointwise_moments>, .runs_here = &pointwise_moments_runs_here});
  register_cuda_channel_norm({.forward = &run<&launch_channel_norm_forward>,
                              .backward = &run<&launch_channel_norm_backward>,
                              .forward_pair = &run<&launch_channel_norm_pair_forward>,
                              .backward_pair = &run<&launch_channel_norm_pair_backward>});
  register_cuda_pooled_norm({.forward = &run<&launch_pooled_norm_forward>,
                             .backward = &run<&launch_pooled_norm_backward>});
  register_cuda_attention_gate({.pool_forward = &run<&launch_voxel_pool_forward>,
                                .pool_backward = &run<&launch_voxel_pool_backward>,
                                .gate_forward = &run<&launch_spatial_gate_forward>,
                                .gate_backward = &run<&launch_spatial_gate_backward>});
  register_cuda_match({.anchors = &run<&launch_match>, .regions = &run<&launch_match_regions>});
  register_cuda_detection_loss({.forward = &run<&launch_detection_loss_forward>,
                                .backward = &run<&launch_detection_loss_backward>});
  register_cuda_channel_products({.forward = &run<&launch_channel_products_forward>,
                                  .backward = &run<&launch_channel_products_backward>});
  register_cuda_chosen_boxes({.decode = &run<&launch_decode_chosen>,
                              .gather = &run<&launch_gather_boxes>,
                              .flip = &run<&launch_flip_boxes>});
  register_cuda_chosen_losses({.forward = &run<&launch_chosen_losses_forward>,
                               .backward = &run<&launch_chosen_losses_backward>});
  register_cuda_top_rows(&run<&launch_top_rows>);
  register_cuda_unit_rows(
      {.forward = &run<&launch_unit_rows_forward>, .backward = &run<&launch_unit_rows_backward>});
  register_cuda_heads({.forward = &run<&launch_head_forward>,
                       .of_hidden = &run<&launch_head_of_hidden>,
                       .of_weight = &run<&launch_head_of_weight>});
  register_cuda_mask_loss(
      {.forward = &run<&launch_mask_loss_forward>, .backward = &run<&launch_mask_loss_backward>});
  register_cuda_nms({.overlaps = &run<&launch_nms_overlaps>, .keep = &run<&launch_nms_keep>});
  register_cuda_picture_input(&run<&launch_picture_input>);
  register_cuda_roi_align(
      {.forward = &run<&launch_roi_align_forward>, .backward = &run<&launch_roi_align_backward>});
  register_cuda_sliding_pool({.forward = &run<&launch_sliding_pool_forward>,
                              .backward = &run<&launch_sliding_pool_backward>});
  register_cuda_step_scalars({.factors = &run<&launch_step_factors>,
                              .own = &run<&launch_own_numbers>,
                              .dropped = &run<&launch_dropped_step>,
                              .update = &run<&launch_update_scalars>,
                              .whole = &run<&launch_host_metrics>});
  register_cuda_window_pool({.forward = &run<&launch_window_pool_forward>,
                             .backward = &run<&launch_window_pool_backward>});
  return true;
}

}  // namespace lockstep
