// The names that other programs use for the few-shot recipe's options.
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

std::vector<Synonym> synonyms() {
  return {
      {.names = {"val_split", "valid_split", "validation_split", "val_ratio", "val_fraction"},
       .from = "Keras, scripts",
       .ours = "data.valid_share={value}"},
      {.names = {"data_dir", "data_path", "data_root", "dataset", "dataset_path"},
       .from = "scripts",
       .ours = "data.path={value}"},
      {.names = {"num_episodes", "n_episodes", "episodes", "train_episodes"},
       .from = "scripts",
       .ours = "stop.episodes={value}",
       .note = "with batch.global episodes in a step"},
      {.names = {"n_way", "num_way", "way", "ways"},
       .from = "scripts",
       .ours = "episode.n_way={value}"},
      {.names = {"k_shot", "n_shot", "num_shot", "shot", "shots"},
       .from = "scripts",
       .ours = "episode.k_shot={value}"},
      {.names = {"n_query", "num_queries", "num_query", "q_query"},
       .from = "scripts",
       .ours = "episode.queries={value}"},
      {.names = {"image_size", "img_size", "input_size", "imgsz"},
       .from = "scripts, Ultralytics",
       .ours = "episode.size={value}",
       .note = "pixels, one number"},
      {.names = {"num_proposals", "proposals", "max_proposals", "n_proposals",
                 "rpn_post_nms_top_n_train"},
       .from = "torchvision, scripts",
       .ours = "model.regions={value}"},
      {.names = {"box_score_thresh", "score_thresh", "score_threshold", "conf_thres", "conf",
                 "confidence_threshold", "similarity_threshold"},
       .from = "torchvision, Ultralytics",
       .ours = "predict.score={value}"},
      {.names = {"backbone", "arch", "encoder"},
       .from = "torchvision, timm, scripts",
       .ours = "model.depth={value}",
       .values = {{"resnet18", "18"}, {"resnet34", "34"}, {"resnet50", "50"}, {"resnet101", "101"}},
       .note = "of a ResNet"},
      {.names = {"box_nms_thresh", "nms_thresh", "iou_thres"},
       .from = "torchvision, Ultralytics",
       .ours = "predict.nms={value}"},
      {.names = {"box_detections_per_img", "max_det"},
       .from = "torchvision, Ultralytics",
       .ours = "predict.boxes={value}"},
      {.names = {"eval_episodes", "val_episodes", "test_episodes"},
       .from = "scripts",
       .ours = "evaluate.episodes={value}"}};
}

}  // namespace lockstep::fewshot
