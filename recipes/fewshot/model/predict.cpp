// Detects objects in pictures. Writes an annotated JPEG per picture, and a CSV file and COCO
// results for all of them.
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "recipes/fewshot/model/found_boxes.h"
#include "recipes/fewshot/model/recipe.h"
#include "recipes/fewshot/pictures/open_picture.h"
#include "recipes/fewshot/sets/picture_ids.h"
#include "recipes/fewshot/sets/support_list.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep::fewshot {
namespace {

using nlohmann::json;

std::vector<std::int64_t> ids_of(const JointOutputs& outputs) {
  std::vector<std::filesystem::path> paths;
  std::vector<std::string> names;
  for (const PredictItem& item : outputs.items()) {
    paths.emplace_back(item.path);
    names.push_back(item.id);
  }
  return picture_ids(paths, outputs.extra(), names);
}

class DetectionOutputs final : public PredictionWriter {
 public:
  explicit DetectionOutputs(JointOutputs& outputs)
      : csv_(outputs.open("detections.csv")),
        results_(outputs.open("detections.json")),
        ids_(ids_of(outputs)) {
    csv_.write("x_min,y_min,x_max,y_max,filename,class_name,similarity_score\n");
    results_.write("[");
  }
  void add(const PredictItem& item, std::string_view bytes) override {
    for (const json& one : json::parse(bytes)) {
      const json& box = one.at("bbox");
      const double x = box.at(0), y = box.at(1), width = box.at(2), height = box.at(3);
      csv_.write(
          csv_line({x, y, x + width, y + height, item.id,
                    one.at("category_name").get<std::string>(), one.at("score").get<double>()}));
      json result = one;
      result["image_id"] = ids_.at(static_cast<std::size_t>(item.index));
      result["file_name"] = item.id;
      results_.write(
          cat(first_ ? "\n" : ",\n", result.dump(-1, ' ', false, json::error_handler_t::replace)));
      first_ = false;
    }
  }
  void finish() override { results_.write("\n]\n"); }

 private:
  JointOutput& csv_;
  JointOutput& results_;
  std::vector<std::int64_t> ids_;  // indexed by PredictItem::index
  bool first_ = true;
};

}  // namespace

// Computes the codes of the support set once for all items.
void FewshotRecipe::read_supports_of(DetectorImpl& net, const ItemContext& context) {
  if (codes_.kernels.defined()) return;
  const SupportList supports = support_list_from_json(context.extra.at("supports"));
  const CropShape shape{.size = static_cast<int>(options_.support_size()),
                        .context = static_cast<int>(options_.episode.context)};
  const StepContext step = prediction_context(context);
  std::vector<at::Tensor> kernels, prototypes;
  std::vector<SupportCrops> all_crops;
  std::vector<NamedClass> wanted;
  for (const SupportClass& one : supports) {
    SupportCrops crops{.category = one.id, .crops = {}};
    std::vector<at::Tensor> pictures, boxes;
    for (const SupportClass::Example& example : one.examples) {
      const Crop crop =
          support_crop(open_picture(example.picture), example.picture, example.box, shape);
      pictures.push_back(to_tensor(crop.image));
      boxes.push_back(at::tensor({crop.box.left, crop.box.top, crop.box.right, crop.box.bottom}));
      crops.crops.push_back(crop.image);
    }
    const ClassCodes codes = codes_of(net, at::stack(pictures).to(context.device),
                                      at::stack(boxes).to(context.device), 1, step);
    kernels.push_back(codes.kernels);
    prototypes.push_back(codes.prototypes);
    all_crops.push_back(std::move(crops));
    wanted.push_back({.category = one.id, .name = one.name, .novel = one.novel});
  }
  // Members are set last, so that nothing is half set if a picture cannot be read.
  crops_ = std::move(all_crops);
  wanted_ = std::move(wanted);
  codes_ = {.kernels = at::cat(kernels), .prototypes = at::cat(prototypes)};
}

// Whether boxes refer to the stored pixels, even if EXIF turns the picture. data.exif decides if it
// is set. Otherwise, this is true for the run's own pictures whose boxes refer to the stored
// pixels.
bool FewshotRecipe::is_stored(const PredictItem& item, const ItemContext& context) const {
  if (options_.data.exif != ExifFrame::automatic) return options_.data.exif == ExifFrame::stored;
  const auto paths = context.extra.find("stored_pictures");
  if (paths == context.extra.end()) return false;
  const std::string path = std::filesystem::absolute(item.path).lexically_normal().string();
  const auto& sorted = paths->get_ref<const json::array_t&>();
  return std::binary_search(sorted.begin(), sorted.end(), json(path));
}

std::vector<ItemOutput> FewshotRecipe::predict_items(Model& model,
                                                     const std::vector<PredictItem>& items,
                                                     const ItemContext& context) {
  DetectorImpl& net = dynamic_cast<NnModel<DetectorImpl>&>(model).module();
  read_supports_of(net, context);
  std::vector<Image> pixels;
  std::vector<at::Tensor> queries;
  for (const PredictItem& item : items) {
    const Frame frame = is_stored(item, context) ? Frame::stored : Frame::turned;
    const ImageShape shape = read_picture_shape(item.path, {.turn = frame == Frame::turned});
    pixels.push_back(open_picture({.id = item.index + 1,
                                   .path = item.path,
                                   .width = shape.width,
                                   .height = shape.height,
                                   .frame = frame}));
    queries.push_back(
        to_tensor(whole_view(pixels.back(), static_cast<int>(options_.episode.size))));
  }
  const at::Tensor found =
      detect(net, at::stack(queries).to(context.device), codes_, prediction_context(context))
          .to(at::kDouble);
  const auto rows = found.accessor<double, 2>();
  std::vector<ItemOutput> outputs;
  for (std::size_t i = 0; i < items.size(); ++i) {
    json boxes = json::array();
    std::vector<Detection> shown;
    for (std::int64_t row = 0; row < found.size(0); ++row) {
      if (static_cast<std::size_t>(rows[row][of_query]) != i) continue;
      const NamedClass& of = wanted_.at(static_cast<std::size_t>(rows[row][of_label]));
      scale_to_picture(found[row], pixels[i].width(), pixels[i].height(),
                       static_cast<double>(options_.episode.size));
      const Detection one = detection_of(found[row], items[i].index, of.category);
      boxes.push_back({{"category_id", one.category},
                       {"category_name", of.name},
                       {"bbox", {one.x, one.y, one.width, one.height}},
                       {"score", one.score}});
      if (one.score >= options_.predict.shown) shown.push_back(one);
    }
    const Image drawn = support_sheet(
        crops_, draw_detections(pixels[i], shown, {.classes = wanted_}), {.classes = wanted_});
    outputs.push_back(
        {.bytes = boxes.dump(),
         .files = {{.name = std::filesystem::path(items[i].id).replace_extension(".jpg").string(),
                    .bytes = encode_jpeg(drawn),
                    .path = {}}}});
  }
  return outputs;
}

std::unique_ptr<PredictionWriter> FewshotRecipe::prediction_writer(JointOutputs& outputs) {
  return std::make_unique<DetectionOutputs>(outputs);
}

}  // namespace lockstep::fewshot
