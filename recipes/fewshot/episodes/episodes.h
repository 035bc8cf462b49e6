// Episodes: a few classes, a few examples of each, and pictures in which to find them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/philox.h"
#include "recipes/fewshot/annotations/detection_data.h"
#include "recipes/fewshot/episodes/class_pictures.h"

namespace lockstep::fewshot {

struct EpisodeShape {
  int n_way = 0;   // classes; 0: five, or all usable ones if they are fewer
  int k_shot = 3;  // supports of each class
  int queries =
      10;  // query pictures in all; 0, only with a query set of its own: all of its pictures
};

// An example of a class: indexes into pictures and boxes of the support set.
struct Support {
  int picture = 0, box = 0;
  friend bool operator==(const Support&, const Support&) = default;
};

struct Episode {
  std::vector<int> classes;       // [N] indexes of categories; label i in the episode is classes[i]
  std::vector<Support> supports;  // [N x K], those of label 0 first
  // Indexes of pictures of the query set, none twice, at most EpisodeShape::queries of them. There
  // are fewer if the set has no more suitable ones, but at least one.
  std::vector<int> queries;

  int label_of(int category) const;  // 0 … N - 1; -1: not of this episode
  friend bool operator==(const Episode&, const Episode&) = default;
};

// A class that cannot be drawn.
struct LeftOut {
  int category = 0;
  int pictures = 0;  // that show it in the support set
  int query_pictures = 0;
};

// Draws episodes. Each is a pure function of (seed, epoch, place), so that they are the same on any
// number of ranks and in any order of asking. Any number of threads.
//
// Classes are drawn with equal chances, without repetition. Queries take turns over the classes:
// the i-th is drawn from the pictures that show class i mod N, so every class is shown if there are
// enough queries. The supports of a class are in K different pictures, a box of each with equal
// chances. Different classes share a picture only if there is no other. No support picture is a
// query of the same episode: in training a picture is no query if one of its classes needs it for
// its supports.
//
// In evaluation, classes and queries do not depend on K, and the supports of K shots are among
// those of K + 1, as long as the same classes are usable.
class Episodes {
 public:
  // In training: supports and queries from one set. A class needs K + 1 pictures, or is left out.
  // classes: indexes of categories that may be drawn (ClassSplit). names:
  // DetectionData::categories. Throws Error: N larger than the usable classes (with those left out
  // and why), K, N or queries out of range.
  Episodes(const ClassPictures& pictures, const std::vector<Category>& names,
           const std::vector<int>& classes, const EpisodeShape& shape, std::uint64_t seed);
  // In evaluation: supports from one set (training), queries from another (validation) with the
  // same categories. A class needs K pictures in the one and a picture in the other.
  Episodes(const ClassPictures& supports, const ClassPictures& queries,
           const std::vector<Category>& names, const std::vector<int>& classes,
           const EpisodeShape& shape, std::uint64_t seed);

  // place: of the episode in its epoch, in training the place in the order of samples (epoch and
  // place of the engine's rows), in evaluation the episode's number with epoch 0. Both at least 0.
  Episode at(std::int64_t epoch, std::int64_t place) const;

  const EpisodeShape& shape() const { return shape_; }          // with n_way as it is used
  const std::vector<int>& classes() const { return classes_; }  // usable ones, ascending
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  // One line that names the classes left out and what they lack; "" if there is none.
  std::string note() const;

 private:
  Episodes(std::shared_ptr<const ClassPictures> supports,
           std::shared_ptr<const ClassPictures> queries, const std::vector<Category>& names,
           const std::vector<int>& classes, const EpisodeShape& shape, std::uint64_t seed);
  void choose_classes(const std::vector<int>& classes);
  bool one_set() const { return supports_ == queries_; }
  std::vector<int> draw_queries(const std::vector<int>& classes, Random& random) const;
  std::vector<Support> draw_supports(const std::vector<int>& classes,
                                     const std::vector<int>& queries, std::uint64_t seed) const;

  std::shared_ptr<const ClassPictures> supports_, queries_;  // the same one in training
  std::vector<std::string> names_;
  std::vector<int> classes_;
  std::vector<LeftOut> left_out_;
  EpisodeShape shape_;
  std::uint64_t seed_;
};

}  // namespace lockstep::fewshot
