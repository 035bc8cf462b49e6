// Pascal VOC's xml: a file a picture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/annotations/picture_look.h"

namespace lockstep::fewshot {

// One xml file. Corners are VOC's: pixels counted from 1, the last one included, so that a box over
// the whole of a picture of 500 x 375 is 1, 1, 500, 375. So x = xmin - 1, w = xmax - xmin + 1, and
// y and h likewise, for every file. If a tool counts from 0 and leaves the end out, its boxes begin
// a pixel early.
struct VocObject {
  std::string name;
  double x = 0, y = 0, w = 0, h = 0;  // in pixels, not cut at the edges; may be below 0
  bool difficult = false;
};
struct VocAnnotation {
  std::string file_name;      // <filename>; "" if there is none
  int width = 0, height = 0;  // <size>; 0 if there is none
  std::vector<VocObject> objects;
};

// <truncated>, <occluded>, <pose> and <part> are passed over: such objects count like any other.
// Text is of the encoding that the file declares, as far as iconv knows it (xml_as_utf8).
// <difficult> may be true or false, and it and an extent may be None, as Python writes them. A
// document type is passed over, but entities are refused, so that none is ever expanded. Throws
// Error, which names the file and the line: no xml, no <annotation>, an object without name or
// bndbox, what is no finite number, extents above 65,535, more than 100,000 objects, elements
// nested deeper than 50.
VocAnnotation parse_voc(std::string_view text, const std::string& name);

// Where the files of a VOC set lie.
struct VocFolders {
  std::filesystem::path annotations, pictures;  // may be one folder
  // The names of the pictures in the set, without ending, one a line (ImageSets/Main/*.txt). Only
  // the first word of a line counts. A second word of -1 (in the lists of one class) leaves the
  // name out. Nothing: all xml files of the folder.
  std::optional<std::filesystem::path> list;
};

// A set as its files say it: the pictures and categories of `data` are filled, its boxes are not. A
// size that an xml does not say is 0. Looks at no picture.
struct VocSet {
  DetectionData data;
  std::vector<std::string> names;    // of the xml files, without ending; one per picture
  std::vector<VocAnnotation> files;  // likewise
};
// Throws Error as read_voc does, but not for pictures that are missing.
VocSet scan_voc(const VocFolders& folders);
// The files of its pictures, in the order of their ids, which count from 1. Reads only the xml
// files whose name no picture has. Throws Error.
std::vector<std::filesystem::path> voc_picture_paths(const VocFolders& folders);

// All of it, pictures in the order of their names, or in that of the list. If the folder has no xml
// files, those in folders below it are read. A picture is the file with the xml's own name and the
// ending .jpg, .jpeg or .png. It may also lie below the folder of pictures, with the same relative
// path or as the only one of that name. If there is none, it is the <filename> of the xml, which is
// often an old one. rule: what is looked at of the pictures (look_at_pictures). Categories are the
// names of all objects in the order of the alphabet. A picture whose xml says no size is opened for
// it. Pictures without an xml are passed over. Throws Error as above, and for an xml or a picture
// that is missing (how many, and the first), a picture that two files name, a set without pictures
// or boxes that count.
DetectionData read_voc(const VocFolders& folders, const PictureRule& rule = {});

}  // namespace lockstep::fewshot
