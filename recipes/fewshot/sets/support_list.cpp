#include "recipes/fewshot/sets/support_list.h"

#include <nlohmann/json.hpp>

namespace lockstep::fewshot {

using nlohmann::json;

json to_json(const SupportList& list) {
  json all = json::array();
  for (const SupportClass& one : list) {
    json examples = json::array();
    for (const SupportClass::Example& example : one.examples) {
      examples.push_back({{"picture", example.picture.path.string()},
                          {"id", example.picture.id},
                          {"size", {example.picture.width, example.picture.height}},
                          {"box", {example.box.x, example.box.y, example.box.w, example.box.h}}});
      if (example.picture.frame != Frame::by_size)
        examples.back()["stored"] = example.picture.frame == Frame::stored;
    }
    all.push_back(
        {{"name", one.name}, {"id", one.id}, {"novel", one.novel}, {"examples", examples}});
  }
  return all;
}

SupportList support_list_from_json(const json& from) {
  SupportList list;
  for (const json& one : from) {
    SupportClass added{
        .name = one.at("name"), .id = one.at("id"), .novel = one.at("novel"), .examples = {}};
    for (const json& example : one.at("examples")) {
      const json& size = example.at("size");
      const json& box = example.at("box");
      const Frame frame = !example.contains("stored")        ? Frame::by_size
                          : example.at("stored").get<bool>() ? Frame::stored
                                                             : Frame::turned;
      added.examples.push_back(
          {.picture = {.id = example.at("id"),
                       .path = example.at("picture").get<std::string>(),
                       .width = size.at(0),
                       .height = size.at(1),
                       .frame = frame},
           .box = {.x = box.at(0), .y = box.at(1), .w = box.at(2), .h = box.at(3)}});
    }
    list.push_back(std::move(added));
  }
  return list;
}

}  // namespace lockstep::fewshot
