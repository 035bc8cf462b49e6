# Headers of earlier versions and what they are now. Plugins include them as <lockstep/engine/register.h>; those that the
# guides, the reference, the examples and the recipes named are still there, each with one line that includes the new one.
set(LOCKSTEP_FORWARDED_HEADERS
  base/base64.h core/base/text/base64.h
  base/beneath.h core/base/files/beneath.h
  base/cells.h core/base/text/cells.h
  base/check.h core/base/check.h
  base/clock.h core/base/clock.h
  base/columns.h core/base/text/columns.h
  base/error.h core/base/error.h
  base/fd.h core/base/files/fd.h
  base/file_kind.h core/base/files/file_kind.h
  base/file_lock.h core/base/files/file_lock.h
  base/files.h core/base/files/files.h
  base/fill_once.h core/base/files/fill_once.h
  base/glob.h core/base/text/glob.h
  base/hash.h core/base/hash.h
  base/json.h core/base/json/json.h
  base/json_file.h core/base/json/json_file.h
  base/json_text.h core/base/json/json_text.h
  base/memory.h core/base/process/memory.h
  base/new_file.h core/base/files/new_file.h
  base/path_pattern.h core/base/text/path_pattern.h
  base/program.h core/base/process/program.h
  base/text.h core/base/text/text.h
  base/utf8.h core/base/text/utf8.h
  base/version.h core/base/version.h
  base/whole_number.h core/base/whole_number.h
  checkpoint/first_weights.h training/checkpoint/first_weights.h
  data/collate.h training/data/collate.h
  data/dataset.h training/data/dataset.h
  devices/gpu_probe.h core/devices/gpus/gpu_probe.h
  engine/batch_norm.h training/recipe/batch_norm.h
  engine/initial_values.h training/parameters/initial_values.h
  engine/item_progress.h training/recipe/item_progress.h
  engine/nn_model.h training/recipe/nn_model.h
  engine/recipe.h training/recipe/recipe.h
  engine/register.h training/recipe/register.h
  engine/sliding_windows.h training/evaluation/sliding_windows.h
  jobs/batch_folder.h tools/jobs/files/batch_folder.h
  jobs/placeholders.h tools/jobs/job_file/placeholders.h
  kernels/activation.h ops/activation/activation.h
  kernels/attention.h ops/attention/attention.h
  kernels/attention_gate.h ops/attention_gate/attention_gate.h
  kernels/augment.h ops/augment/augment.h
  kernels/block_convolution.h ops/block_convolution/block_convolution.h
  kernels/boxes.h ops/boxes/boxes.h
  kernels/cat_channels.h ops/cat_channels/cat_channels.h
  kernels/channel_products.h ops/channel_products/channel_products.h
  kernels/channels_last.h ops/channels_last/channels_last.h
  kernels/chosen_boxes.h ops/chosen_boxes/chosen_boxes.h
  kernels/chosen_losses.h ops/chosen_losses/chosen_losses.h
  kernels/convolution.h ops/convolution/convolution.h
  kernels/cross_entropy.h ops/cross_entropy/cross_entropy.h
  kernels/detection_loss.h ops/detection_loss/detection_loss.h
  kernels/dropout.h ops/dropout/dropout.h
  kernels/embedding.h ops/embedding/embedding.h
  kernels/embedding_sum.h ops/embedding/embedding_sum.h
  kernels/fused_norm.h ops/channel_norm/fused_norm.h
  kernels/joined_linear.h ops/linear/joined_linear.h
  kernels/layer_norm.h ops/layer_norm/layer_norm.h
  kernels/linear.h ops/linear/linear.h
  kernels/linear_of_rows.h ops/linear_of_rows/linear_of_rows.h
  kernels/mask_loss.h ops/mask_loss/mask_loss.h
  kernels/match_boxes.h ops/match_boxes/match_boxes.h
  kernels/nms.h ops/nms/nms.h
  kernels/picture_input.h ops/picture_input/picture_input.h
  kernels/pointwise.h ops/pointwise/pointwise.h
  kernels/roi_align.h ops/roi_align/roi_align.h
  kernels/second_derivative.h ops/shared/second_derivative.h
  kernels/spatial.h ops/spatial/spatial.h
  kernels/top_rows.h ops/top_rows/top_rows.h
  kernels/unit_rows.h ops/unit_rows/unit_rows.h
  media/bootstrap.h core/media/bootstrap.h
  media/chart.h core/media/charts/chart.h
  media/chart_sheet.h core/media/charts/chart_sheet.h
  media/colour.h core/media/colour.h
  media/csv_table.h core/media/csv_table.h
  media/draw.h core/media/pictures/draw.h
  media/font.h core/media/pictures/font.h
  media/image.h core/media/pictures/image.h
  media/picture_file.h core/media/pictures/picture_file.h
  media/svg.h core/media/charts/svg.h
  media/zip_reader.h core/media/zip_reader.h
  media/zip_writer.h core/media/zip_writer.h
  plan/direct_recipe.h planning/direct_recipe.h
  plan/memory.h planning/memory/memory.h
  plan/no_effect.h planning/options/no_effect.h
  plan/philox.h core/base/philox.h
  plan/prepared_options.h planning/options/prepared_options.h
  plan/recipe_info.h planning/recipe_info.h
  plan/train_options.h planning/options/train_options.h
  plan/words.h planning/words.h
  run/item_table.h runtime/run/predictions/item_table.h
  run/job_report.h runtime/run/job_report.h
  run/json_lines.h runtime/run/events/json_lines.h
  run/prediction_folder.h runtime/run/predictions/prediction_folder.h
  run/weight_source.h runtime/run/checkpoint/weight_source.h
)

# Folders of headers in earlier versions.
set(LOCKSTEP_EARLIER_FOLDERS base checkpoint config cuda data devices doctor engine jobs kernels launch media monitor plan report run stats
  trainer)

# lockstep_forward_headers(FROM TO): writes them to the folder TO, which is named lockstep, where the new header is below
# FROM. Sets `forwarded` to the names. Other headers in folders of earlier versions are removed from TO: they are of an
# installation before this one, and would declare everything twice.
function(lockstep_forward_headers from to)
  cmake_policy(SET CMP0057 NEW)  # IN_LIST, in scripts too
  set(forwarded)
  set(names ${LOCKSTEP_FORWARDED_HEADERS})
  while(names)
    list(GET names 0 old)
    list(GET names 1 new)
    list(REMOVE_AT names 0 1)
    if(EXISTS ${from}/${new} AND NOT EXISTS ${from}/${old})
      file(CONFIGURE OUTPUT ${to}/${old} CONTENT "// This header is <lockstep/${new}> now.\n#pragma once\n#include <lockstep/${new}>\n" @ONLY)
      list(APPEND forwarded ${old})
    endif()
  endwhile()
  foreach(folder ${LOCKSTEP_EARLIER_FOLDERS})
    if(NOT EXISTS ${from}/${folder})
      file(GLOB there RELATIVE ${to} ${to}/${folder}/*.h)
      foreach(header ${there})
        if(NOT header IN_LIST forwarded)
          file(REMOVE ${to}/${header})
        endif()
      endforeach()
    endif()
  endforeach()
  set(forwarded ${forwarded} PARENT_SCOPE)
endfunction()
