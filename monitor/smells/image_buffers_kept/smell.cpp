// Pictures are opened and kept unread, or gathered decoded in several variants.
#include <algorithm>

#include "holder_findings.hpp"
#include "source/tensorflow.hpp"
#include "xleak/monitor/bytes.hpp"

namespace xleak::monitor::smells::image_buffers_kept {
namespace {

using source::Bound;
using source::Kind;

constexpr long long kFewPictures = 8;

// A list of thumbnails is small.
constexpr long long kThumbnailSide = 64;

bool opens(const Expr& expression) {
  return expression.as_call().callee().is_dotted({"PIL.Image.open"});
}

bool decodes(const Expr& value) {
  for (const Expr& call : value.all(Kind::call)) {
    if (call.as_call().callee().is_dotted({"PIL.Image.open", "cv2.imread", "imageio.imread",
                                           "skimage.io.imread", "matplotlib.pyplot.imread",
                                           "keras.preprocessing.image.load_img",
                                           "keras.utils.load_img"}))
      return true;
  }
  return false;
}

// The name of a picture that the iteration decodes.
bool is_picture(const Expr& name, const Loop& loop) {
  for (const PlaceBinding& binding : name.place().bindings()) {
    const bool here = binding.target.is_inside(loop);
    if (here && (binding.how == Bound::assign || binding.how == Bound::with) &&
        decodes(binding.value))
      return true;
  }
  return false;
}

bool changes_picture(const Call& call) {
  const std::string_view dotted = call.callee().dotted();
  for (const std::string_view module : {"cv2.", "PIL.ImageOps.", "tensorflow.image.", "skimage."}) {
    if (dotted.substr(0, module.size()) == module) return true;
  }
  static constexpr std::string_view kMethods[] = {
      "rotate", "transpose", "crop", "resize", "convert", "filter", "copy", "astype", "reshape"};
  return std::find(std::begin(kMethods), std::end(kMethods), call.method()) != std::end(kMethods) ||
         call.callee().is_dotted({"numpy.array", "numpy.asarray", "numpy.fliplr", "numpy.flipud",
                                  "numpy.rot90", "keras.utils.img_to_array",
                                  "keras.preprocessing.image.img_to_array"});
}

// The picture that the value is, or is a variant of.
Place picture_in(const Expr& value, const Loop& loop) {
  if (value.is(Kind::name)) return is_picture(value, loop) ? value.place() : Place();
  const Call call = value.as_call();
  if (!call || !changes_picture(call)) return {};
  const auto arguments = call.arguments();
  if (!arguments.empty()) {
    if (const Place picture = picture_in(arguments.front(), loop)) return picture;
  }
  return picture_in(call.receiver(), loop);
}

bool makes_thumbnails(const Loop& loop) {
  for (const Expr& expression : loop.all(Kind::call)) {
    const Call call = expression.as_call();
    const std::string_view name = call.callee().name();
    if (name != "resize" && name != "thumbnail" && name != "load_img") continue;
    for (const Expr& size : call.all(Kind::tuple)) {
      const auto sides = size.children();
      const bool small =
          !sides.empty() && std::all_of(sides.begin(), sides.end(), [](const Expr& side) {
            return side.integer() && *side.integer() <= kThumbnailSide;
          });
      if (small) return true;
    }
  }
  return false;
}

bool escapes(const Expr& container, const Expr& site) {
  const Place place = container.place();
  if (!place || place.outlives(site) || place.is_module_level()) return static_cast<bool>(place);
  for (const Expr& value : site.function().returned()) {
    // What a call makes of it has read it.
    if (value.mentions(place) && value.all(Kind::call).empty()) return true;
  }
  return false;
}

// A data set hands out one item at a time, and forgets it.
bool makes_one_item(const Expr& site) { return site.function().name() == "__getitem__"; }

bool is_worth_telling(const SourceView& code, const Store& store) {
  return !makes_one_item(store.site) && !store.value.loops().empty() &&
         tensorflow::repeats(store.value, kFewPictures) && !code.is_bounded(store) &&
         escapes(store.container, store.site);
}

// `pages[0].save("all.gif", append_images=pages[1:])` reads and writes them one by one.
bool is_saved_together(const Place& container) {
  for (const Expr& use : container.uses()) {
    for (Expr at = use; at && !at.is(Kind::block) && !at.is(Kind::cell); at = at.parent()) {
      if (at.is(Kind::keyword) && at.name() == "append_images") return true;
    }
  }
  return false;
}

Finding unread(const Expr& opened) {
  Finding finding = opened.finding(
      "This picture is opened and kept, but not read: its file stays open until it is, one "
      "descriptor for each. Read it in a `with` block, or keep `.copy()` of it.");
  finding.fixes.push_back({"Keep a copy that is read", "", {opened.followed_by(".copy()")}});
  return finding;
}

// The stores of the same picture in the same iteration; of branches only one runs.
int variants(const SourceView& code, const Store& store, const Place& picture, const Loop& loop) {
  int count = 0;
  for (const Store& other : code.stores()) {
    const bool same_container = other.container.place() == store.container.place();
    if (same_container && other.site.is_inside(loop.body()) && !other.site.is_guarded() &&
        picture_in(other.value, loop) == picture)
      ++count;
  }
  return count;
}

bool stays_open(const Call& reader) {
  const Place name = reader.target().place();
  return tensorflow::repeats(reader, kFewPictures) && !tensorflow::is_with_item(reader) && name &&
         name.calls_of({"close"}).empty();
}

void tell_readers(const SourceView& code, std::vector<Finding>& findings) {
  for (const Call& reader : code.calls_to({"imageio.get_reader", "imageio.v2.get_reader"})) {
    if (!stays_open(reader)) continue;
    findings.push_back(
        reader.finding("This reader is opened in each iteration and never closed: it keeps its "
                       "file and its buffers. "
                       "Open it in a `with` block."));
  }
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const bool has_pictures = code.uses("PIL") || code.uses("cv2") || code.uses("imageio") ||
                            code.uses("skimage") || code.uses("keras");
  if (!has_pictures) return findings;
  tell_readers(code, findings);
  Expr last_told;
  for (const Store& store : code.stores()) {
    if (opens(store.value)) {
      if (is_worth_telling(code, store) && !is_saved_together(store.container.place()))
        findings.push_back(unread(store.value));
      continue;
    }
    const auto loops = store.site.loops();
    if (loops.empty() || loops.front() == last_told || loops.front().is(Kind::comprehension))
      continue;
    const Place picture = picture_in(store.value, loops.front());
    if (!picture || variants(code, store, picture, loops.front()) < 2) continue;
    if (makes_thumbnails(loops.front()) || !is_worth_telling(code, store)) continue;
    findings.push_back(store.site.finding(
        "`" + std::string(store.container.text()) +
        "` gathers several decoded variants of each picture, which take many times the size of its "
        "file. Make them when they are needed: a generator, or `tf.data` with `map`."));
    last_told = loops.front();
  }
  return findings;
}

// Descriptors, and the buffers of their files, are in no counter.
constexpr std::int64_t kBytesUnknown = 0;

std::string of_unread(const Holder& holder) {
  return holder.label + " keeps " + std::to_string(holder.count) +
         " pictures that were opened and not read, such as " + holder.largest +
         ": each has one of the about thousand descriptors of a process until it is. Read them in "
         "a `with` block.";
}

std::string of_decoded(const Holder& holder) {
  return holder.label + " keeps " + std::to_string(holder.count) + " decoded pictures, " +
         human(holder.held_bytes) +
         ". Make them when they are needed: a generator, or `tf.data` with `map`.";
}

std::vector<Finding> at_run_time(const SessionView& session) {
  const HolderRule decoded{"pictures", "Let the pictures go", of_decoded};
  // A data set that is in use looks the same.
  return holder_findings(session,
                         {{"unread pictures", "Let the pictures go", of_unread, 0, kBytesUnknown},
                          decoded.as(Severity::note)});
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL508", "image_buffers_kept", Severity::warning, at_run_time, in_source};

}  // namespace xleak::monitor::smells::image_buffers_kept
