// Boxes around objects, of ground truth and of detections, and the names of classes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::fewshot {

// A box of the ground truth. x, y: upper left corner, in pixels of a picture of the size in the
// annotations.
struct TrueBox {
  std::int64_t picture = 0, category = 0;  // ids; any numbers
  double x = 0, y = 0, width = 0, height = 0;
  double area = 0;  // area of the object in square pixels, for AreaRange
  // a region with many objects; detections that match it are neither right nor wrong
  bool crowd = false;
  // an object that does not count; the one detection matched to it is neither right nor wrong
  bool ignore = false;
};

struct Detection {
  std::int64_t picture = 0, category = 0;
  double x = 0, y = 0, width = 0, height = 0;
  double score = 0;  // any finite number; higher means more certain
};

// A class as charts and pictures show it. The position in a list of classes decides the colour.
struct NamedClass {
  std::int64_t category = 0;
  std::string name;  // UTF-8
  bool novel = false;
};

// Returns the name of a class, or text like "class 7" if `classes` lacks the id `category`.
std::string class_name(std::span<const NamedClass> classes, std::int64_t category);

// Returns the intersection over union (IoU), or 0 if the boxes do not overlap. For a crowd, returns
// the area of the intersection, divided by the detection's area.
double box_iou(const Detection& detection, const TrueBox& truth);

}  // namespace lockstep::fewshot
