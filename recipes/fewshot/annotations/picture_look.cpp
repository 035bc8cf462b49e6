#include "recipes/fewshot/annotations/picture_look.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/file_names.h"

namespace lockstep::fewshot {
namespace {

constexpr std::size_t most_threads = 16;
constexpr std::size_t most_listed = 50;

struct Look {
  std::optional<PictureHeader> header;
  std::string fault;  // the reason why there is no header
};

Look look_at(const Picture& picture) {
  try {
    return {.header = read_picture_header(picture.path), .fault = {}};
  } catch (const Error& error) {
    return {.header = {}, .fault = error.what()};
  } catch (const std::exception& error) {  // no exception may leave a thread
    return {.header = {}, .fault = cat(picture.path.string(), ": ", error.what())};
  }
}

// Uses several threads even on few cores, because reads from a network disk mostly wait.
std::vector<Look> look_at_all(const std::vector<Picture>& pictures,
                              const std::vector<std::size_t>& which) {
  std::vector<Look> looks(pictures.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    constexpr std::size_t share = 16;
    for (std::size_t at; (at = next.fetch_add(share)) < which.size();)
      for (std::size_t i = at; i < std::min(at + share, which.size()); ++i)
        looks[which[i]] = look_at(pictures[which[i]]);
  };
  const std::size_t threads =
      std::min({most_threads, std::max<std::size_t>(4, std::thread::hardware_concurrency()),
                which.size() / 64});
  std::vector<std::jthread> others;
  for (std::size_t i = 0; i < threads; ++i) others.emplace_back(work);
  work();
  return looks;
}

// first: the first missing picture; null if none is missing.
void refuse_missing(const DetectionData& data, std::int64_t missing, const Picture* first,
                    const char* folder_option) {
  if (first == nullptr) return;
  throw Error(
      cat(data.name, ": ", missing, " of ", data.pictures.size(),
          " pictures are missing, the first is ", first->path.string(), " (id ", first->id, ")"),
      cat("name their folder by ", folder_option, ", or take them out of the annotations"));
}

using Elsewhere = std::function<std::optional<std::filesystem::path>(std::size_t)>;

// Looks elsewhere for pictures that are missing and therefore have no header. Throws Error if some
// are found nowhere.
void find_missing(DetectionData& data, std::vector<Look>& looks, const Elsewhere& elsewhere,
                  const PictureRule& rule) {
  // After this many vain searches, the other pictures are not searched for.
  constexpr std::int64_t hopeless = 1000;
  std::int64_t missing = 0, found = 0;
  const Picture* first = nullptr;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    Picture& picture = data.pictures[i];
    if (looks[i].header || is_file(picture.path)) continue;
    const bool searches = elsewhere && (found > 0 || missing < hopeless);
    if (auto path = searches ? elsewhere(i) : std::nullopt) {
      ++found;
      picture.path = *std::move(path);
      if (rule.look || picture.width == 0 || picture.height == 0) looks[i] = look_at(picture);
    } else if (missing++ == 0) {
      first = &picture;
    }
  }
  refuse_missing(data, missing, first, rule.folder_option);
}

std::string with_id(const Picture& picture, const std::string& fault) {
  return cat(fault, " (id ", picture.id, ")");
}

void refuse_bad_pictures(const DetectionData& data, const std::vector<std::string>& faults) {
  if (faults.empty()) return;
  std::vector<std::string> shown(
      faults.begin(),
      faults.begin() + static_cast<std::ptrdiff_t>(std::min(most_listed, faults.size())));
  if (faults.size() > most_listed)
    shown.push_back(cat("and ", faults.size() - most_listed, " more"));
  throw Error(cat(data.name, ": ", faults.size(), " of ", data.pictures.size(),
                  " pictures cannot be used: ", join(shown, "; ")),
              "convert or replace these files, or take them out of the annotations; boxes are in "
              "pixels of a picture of the annotations' size");
}

// The bounds of a picture's boxes and of their centres.
struct Reach {
  double left = 0, top = 0, right = 0, bottom = 0;
  double first_x = 0, first_y = 0, last_x = 0, last_y = 0;

  void add(const RawBox& box) {
    left = std::min(left, box.x);
    top = std::min(top, box.y);
    right = std::max(right, box.x + box.w);
    bottom = std::max(bottom, box.y + box.h);
    first_x = std::min(first_x, box.x + box.w / 2);
    first_y = std::min(first_y, box.y + box.h / 2);
    last_x = std::max(last_x, box.x + box.w / 2);
    last_y = std::max(last_y, box.y + box.h / 2);
  }
  bool is_within(int width, int height) const {
    constexpr double overhang = 1;  // the same limit as in fit_box
    return left >= -overhang && top >= -overhang && right <= width + overhang &&
           bottom <= height + overhang;
  }
  // Carelessly drawn boxes may reach over the edge, but their centres do not.
  bool has_centres_within(int width, int height) const {
    return first_x >= 0 && first_y >= 0 && last_x <= width && last_y <= height;
  }
};

// Pictures whose width and height may be exchanged in the annotations. as_said and exchanged: the
// numbers of pictures whose boxes fit only the annotated sides, or only the exchanged ones.
struct Kind {
  std::vector<std::size_t> pictures;
  std::int64_t as_said = 0, exchanged = 0;
};

class Frames {
 public:
  Frames(DetectionData& data, const PictureRule& rule, const std::vector<Look>& looks)
      : data_(data), rule_(rule), looks_(looks) {}

  void decide(const std::function<std::vector<LooseBox>()>& boxes) {
    for (std::size_t i = 0; i < data_.pictures.size(); ++i) sort(i);
    refuse_bad_pictures(data_, faults_);
    if (!by_stored_.pictures.empty() || !by_turned_.pictures.empty() || !odd_.pictures.empty() ||
        !unsaid_.empty())
      ask(boxes());
    exchange(by_stored_, Frame::turned);
    exchange(by_turned_, Frame::stored);
    exchange_odd();
    settle_untold();
    count();
  }

 private:
  Picture& picture(std::size_t i) { return data_.pictures[i]; }
  const PictureHeader& header(std::size_t i) const { return *looks_[i].header; }

  static void set_size(Picture& picture, const ImageShape& shape) {
    picture.width = shape.width;
    picture.height = shape.height;
  }
  void set(Picture& picture, Frame frame, const PictureHeader& of) {
    picture.frame = frame;
    if (picture.width == 0 || picture.height == 0)
      set_size(picture, frame == Frame::stored ? of.stored : of.turned());
  }
  void fault(const Picture& picture, const PictureHeader& of) {
    const ImageShape shape = of.turned();
    std::string text =
        cat(picture.path.string(), " is ", shape.width, " x ", shape.height,
            ", but its annotations are of a picture of ", picture.width, " x ", picture.height);
    faults_.push_back(with_id(picture, text));
  }

  // Uses the header and the annotated size to find the frame of a picture, or to find that boxes
  // must decide.
  void sort(std::size_t i) {
    Picture& one = picture(i);
    if (!looks_[i].header) return faults_.push_back(with_id(one, looks_[i].fault));
    const PictureHeader& of = header(i);
    const bool is_said = one.width > 0 && one.height > 0;
    const ImageShape turned = of.turned();
    if (of.orientation == 1) return sort_upright(i, is_said);
    ++data_.frames.oriented;
    const int as_stored = is_said ? fit_of(of.stored, one.width, one.height) : 0,
              as_turned = is_said ? fit_of(turned, one.width, one.height) : 0;
    if (is_said && as_stored == 0 && as_turned == 0) return fault(one, of);
    if (rule_.exif != ExifFrame::automatic) return obey(one, of);
    if (as_stored != as_turned) {
      one.frame = as_stored > as_turned ? Frame::stored : Frame::turned;
      (as_stored > as_turned ? by_stored_ : by_turned_).pictures.push_back(i);
    } else if (is_said || of.stored.width == turned.width) {
      untold_.push_back(i);
    } else {
      unsaid_.push_back(i);
    }
  }
  void sort_upright(std::size_t i, bool is_said) {
    Picture& one = picture(i);
    const ImageShape& shape = header(i).stored;
    if (!is_said) return set_size(one, shape);
    if (fit_of(shape, one.width, one.height) > 0) return;
    if (shape.width == one.height && shape.height == one.width)
      odd_.pictures.push_back(i);
    else
      fault(one, header(i));
  }
  // Applies the frame that the user chose. If the annotated sides fit the other frame better, they
  // are exchanged.
  void obey(Picture& one, const PictureHeader& of) {
    const bool stored = rule_.exif == ExifFrame::stored;
    set(one, stored ? Frame::stored : Frame::turned, of);
    if (fit_of(stored ? of.stored : of.turned(), one.width, one.height) <
        fit_of(stored ? of.turned() : of.stored, one.width, one.height))
      std::swap(one.width, one.height);
  }

  void ask(const std::vector<LooseBox>& boxes) {
    std::vector<Reach> reach(data_.pictures.size());
    for (const LooseBox& one : boxes) reach[static_cast<std::size_t>(one.picture)].add(one.box);
    const auto count = [&](Kind& kind, auto fits) {
      for (const std::size_t i : kind.pictures) {
        const bool said = fits(reach[i], picture(i).width, picture(i).height),
                   exchanged = fits(reach[i], picture(i).height, picture(i).width);
        kind.as_said += said && !exchanged ? 1 : 0;
        kind.exchanged += exchanged && !said ? 1 : 0;
      }
    };
    const auto centres = [](const Reach& of, int width, int height) {
      return of.has_centres_within(width, height);
    };
    count(by_stored_, centres);
    count(by_turned_, centres);
    count(odd_, [](const Reach& of, int width, int height) { return of.is_within(width, height); });
    for (const std::size_t i : unsaid_) ask_unsaid(i, reach[i]);
  }
  void ask_unsaid(std::size_t i, const Reach& reach) {
    const ImageShape stored = header(i).stored, turned = header(i).turned();
    bool fits_stored = reach.has_centres_within(stored.width, stored.height),
         fits_turned = reach.has_centres_within(turned.width, turned.height);
    if (fits_stored == fits_turned) {
      fits_stored = reach.is_within(stored.width, stored.height);
      fits_turned = reach.is_within(turned.width, turned.height);
    }
    if (fits_stored == fits_turned)
      untold_.push_back(i);
    else
      set(picture(i), fits_stored ? Frame::stored : Frame::turned, header(i));
  }

  void exchange(const Kind& kind, Frame frame) {
    if (kind.exchanged <= kind.as_said) return;
    for (const std::size_t i : kind.pictures) {
      std::swap(picture(i).width, picture(i).height);
      picture(i).frame = frame;
      ++data_.frames.by_boxes;
    }
  }
  void exchange_odd() {
    if (odd_.exchanged == 0 || odd_.as_said > 0) {
      for (const std::size_t i : odd_.pictures) fault(picture(i), header(i));
      return refuse_bad_pictures(data_, faults_);
    }
    for (const std::size_t i : odd_.pictures) std::swap(picture(i).width, picture(i).height);
    data_.frames.exchanged = std::ssize(odd_.pictures);
  }
  void settle_untold() {
    bool any_stored = false, any_turned = false;
    for (const Picture& one : data_.pictures) {
      any_stored = any_stored || one.frame == Frame::stored;
      any_turned = any_turned || one.frame == Frame::turned;
    }
    const Frame frame = any_stored && !any_turned ? Frame::stored : Frame::turned;
    for (const std::size_t i : untold_) set(picture(i), frame, header(i));
    if (any_stored == any_turned) data_.frames.untold = std::ssize(untold_);
  }
  void count() {
    for (const Picture& one : data_.pictures) {
      data_.frames.stored += one.frame == Frame::stored ? 1 : 0;
      data_.frames.turned += one.frame == Frame::turned ? 1 : 0;
    }
  }

  DetectionData& data_;
  const PictureRule& rule_;
  const std::vector<Look>& looks_;
  std::vector<std::string> faults_;
  // by_stored_ and by_turned_: the annotated size fits the stored or the turned picture better.
  // odd_: the sides are exchanged although the picture has no orientation.
  Kind by_stored_, by_turned_, odd_;
  // the annotations give no size, and the two frames differ in size
  std::vector<std::size_t> unsaid_;
  // neither the size nor the boxes tell the frame
  std::vector<std::size_t> untold_;
};

}  // namespace

int fit_of(const ImageShape& shape, int width, int height) {
  if (shape.width == width && shape.height == height) return 2;
  const double by_width = static_cast<double>(shape.width) / width;
  const double by_height = static_cast<double>(shape.height) / height;
  const bool is_scaled = std::abs(height * by_width - shape.height) <= 1 ||
                         std::abs(width * by_height - shape.width) <= 1;
  return is_scaled ? 1 : 0;
}

void check_pictures_exist(const DetectionData& data) {
  std::int64_t missing = 0;
  const Picture* first = nullptr;
  for (const Picture& picture : data.pictures)
    if (!is_file(picture.path) && missing++ == 0) first = &picture;
  refuse_missing(data, missing, first, PictureRule().folder_option);
}

void look_at_pictures(DetectionData& data, const PictureRule& rule,
                      const std::function<std::vector<LooseBox>()>& boxes,
                      const Elsewhere& elsewhere) {
  const bool all = rule.look;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < data.pictures.size(); ++i)
    if (all || data.pictures[i].width == 0 || data.pictures[i].height == 0) which.push_back(i);
  std::vector<Look> looks = look_at_all(data.pictures, which);
  find_missing(data, looks, elsewhere, rule);
  for (std::size_t i = 0; all && i < looks.size(); ++i)
    if (looks[i].header) data.pictures[i].content_hash = looks[i].header->content_hash;
  if (all) return Frames(data, rule, looks).decide(boxes);
  std::vector<std::string> faults;
  for (const std::size_t i : which) {
    Picture& picture = data.pictures[i];
    if (!looks[i].header) {
      faults.push_back(with_id(picture, looks[i].fault));
      continue;
    }
    const ImageShape shape = looks[i].header->turned();
    picture.width = shape.width;
    picture.height = shape.height;
  }
  refuse_bad_pictures(data, faults);
}

}  // namespace lockstep::fewshot
