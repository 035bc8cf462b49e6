// The names that other programs use for the volume recipe's options.
#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {

std::vector<Synonym> synonyms() {
  return {
      {.names = {"val_split", "valid_split", "validation_split", "val_ratio", "val_fraction"},
       .from = "Keras, scripts",
       .ours = "data.valid_share={value}"},
      {.names = {"data_dir", "data_path", "dataset", "dataset_path", "root_dir"},
       .from = "MONAI, scripts",
       .ours = "data.path={value}"},
      {.names = {"patch_size", "roi_size", "crop_size", "spatial_size"},
       .from = "nnU-Net, MONAI",
       .ours = "data.patch={list}",
       .note = "numbers separated by commas, or one for all"},
      {.names = {"spacing", "pixdim"},
       .from = "nnU-Net, MONAI",
       .ours = "data.spacing={list}",
       .note = "z,y,x in mm"},
      {.names = {"fold"},
       .from = "nnU-Net",
       .ours = "data.fold={value}",
       .note = "one of data.folds parts; nnU-Net has 5"},
      {.names = {"folds", "num_folds", "n_folds"}, .from = "scripts", .ours = "data.folds={value}"},
      {.names = {"num_classes", "n_classes", "out_channels"},
       .from = "MONAI",
       .ours = "data.classes={value}"},
      {.names = {"in_channels", "num_channels"}, .from = "MONAI", .ours = "data.channels={value}"},
      {.names = {"ignore_index", "ignore_label"},
       .from = "PyTorch, nnU-Net",
       .ours = "data.ignore={value}"},
      {.names = {"oversample_foreground_percent"},
       .from = "nnU-Net",
       .ours = "data.positive={value}",
       .note = "a share, as there"},
      {.names = {"samples_per_volume", "num_samples"},
       .from = "MONAI",
       .ours = "data.patches={value}",
       .note = "per volume and epoch"},
      {.names = {"base_channels", "init_features", "init_filters", "base_num_features"},
       .from = "MONAI, nnU-Net",
       .ours = "model.width={value}"},
      {.names = {"deep_supervision", "enable_deep_supervision"},
       .from = "nnU-Net",
       .ours = "model.deep_supervision={value}"},
      {.names = {"dropout", "dropout_prob"}, .from = "MONAI", .ours = "model.dropout={value}"},
      {.names = {"overlap"}, .from = "MONAI", .ours = "predict.overlap={value}"},
      {.names = {"sw_batch_size"}, .from = "MONAI", .ours = "predict.batch={value}"},
      {.names = {"tta", "use_mirroring"}, .from = "nnU-Net", .ours = "predict.flips={value}"},
      {.names = {"save_probabilities", "npz"},
       .from = "nnU-Net",
       .ours = "predict.save=probabilities",
       .none_when_off = true},
      {.names = {"threshold"}, .from = "scripts", .ours = "predict.threshold={value}"}};
}

}  // namespace lockstep::volume
