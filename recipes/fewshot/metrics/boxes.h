// Boxes around objects: ground truth and detections.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::fewshot {

// x, y: upper left corner, in pixels of the picture as its annotations count them.
struct TrueBox {
  std::int64_t picture = 0, category = 0;  // ids, any numbers
  double x = 0, y = 0, width = 0, height = 0;
  double area = 0;  // of the object, in square pixels; it decides the area range
  // a region with many objects; any number of detections of it are neither right nor wrong
  bool crowd = false;
  // an object that does not count; one detection of it is neither right nor wrong
  bool ignore = false;
};

struct Detection {
  std::int64_t picture = 0, category = 0;
  double x = 0, y = 0, width = 0, height = 0;
  double score = 0;  // any finite number; higher means more certain
};

// How a class is shown. Its position in a list of classes decides its colour.
struct NamedClass {
  std::int64_t category = 0;
  std::string name;  // UTF-8
  bool novel = false;
};

// Returns "class 7" if the list lacks the class.
std::string class_name(std::span<const NamedClass> classes, std::int64_t category);

// Intersection over union. For a crowd it is intersection over the detection's area. 0 if they do
// not overlap.
double box_iou(const Detection& detection, const TrueBox& truth);

}  // namespace lockstep::fewshot
