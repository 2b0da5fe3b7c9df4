#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/limits.hpp"
#include "bindings/places.hpp"
#include "bindings/register.hpp"
#include "facts/birth_places.hpp"
#include "facts/collector_paused.hpp"
#include "facts/heap_snapshot.hpp"
#include "facts/live_objects.hpp"
#include "xleak/monitor/process_pages.hpp"

namespace py = pybind11;

namespace xleak::bindings {
namespace {

using facts::HeapSnapshot;
using facts::Reference;
using Saved = std::tuple<std::uintptr_t, std::int64_t, std::uintptr_t, std::int64_t, std::string,
                         std::vector<std::uintptr_t>>;

/// For a computation without the GIL.
monitor::Stop stop_of(const facts::Limits& limits) {
  return [&limits] {
    if (limits.deadline && facts::ThreadClock::now() >= *limits.deadline) return true;
    if (!limits.interrupted) return false;
    const py::gil_scoped_acquire acquire;
    return limits.interrupted();
  };
}

std::unique_ptr<HeapSnapshot> take(const py::list& slots,
                                   const std::vector<std::tuple<std::string, py::object>>& roots,
                                   const std::vector<Saved>& saved,
                                   std::optional<double> deadline_ms,
                                   const Interrupted& interrupted) {
  monitor::LargeVector<facts::NamedSlot> named_slots;
  for (const py::handle slot : slots) {
    const auto [dict, key, label] = slot.cast<std::tuple<py::dict, py::object, std::string>>();
    named_slots.push_back({Reference::share(dict.ptr()), Reference::share(key.ptr()), label});
  }
  std::vector<facts::NamedRoot> named_roots;
  for (const auto& [label, object] : roots)
    named_roots.push_back({label, Reference::share(object.ptr())});
  std::vector<facts::SavedMemory> memory;
  for (const auto& [tensor, key, start, bytes, device, shown_by] : saved)
    memory.push_back({tensor, key, start, bytes, device, shown_by});
  auto snapshot = std::make_unique<HeapSnapshot>(std::move(named_slots), std::move(named_roots),
                                                 std::move(memory));
  const AskedLimits asked(deadline_ms, interrupted);
  bool complete = snapshot->read(asked.limits());
  if (complete) {
    const py::gil_scoped_release release;
    complete = snapshot->analyse(stop_of(asked.limits()));
    if (complete) snapshot->find_births(monitor::living_blocks());
  }
  asked.raise();
  return complete ? std::move(snapshot) : nullptr;
}

// What a snapshot finds is borrowed until it is in a list, which must not set the collector off.

py::list as_list(const std::vector<PyObject*>& objects) {
  const facts::CollectorPaused paused;
  py::list list;
  for (PyObject* object : objects) list.append(py::reinterpret_borrow<py::object>(object));
  return list;
}

std::vector<PyObject*> as_vector(const py::list& list) {
  std::vector<PyObject*> objects;
  for (const py::handle object : list) objects.push_back(object.ptr());
  return objects;
}

py::list instances(const facts::LiveObjects& live, const py::type& base) {
  return as_list(live.instances(reinterpret_cast<PyTypeObject*>(base.ptr())));
}

py::list made_in(const facts::LiveObjects& live, const py::dict& names) {
  return as_list(live.made_in(names.ptr()));
}

std::vector<std::pair<py::list, std::int64_t>> garbage_cycles(const HeapSnapshot& heap,
                                                              const py::list& suspects) {
  const facts::CollectorPaused paused;
  std::vector<std::pair<py::list, std::int64_t>> cycles;
  for (const auto& waiting : heap.garbage_cycles(as_vector(suspects)))
    cycles.emplace_back(as_list(waiting.suspects), waiting.bytes);
  return cycles;
}

std::pair<std::string, py::list> way_around(const HeapSnapshot& heap, const py::object& object) {
  const facts::CollectorPaused paused;
  const auto circle = heap.way_around(object.ptr());
  return {circle.text, as_list(circle.objects)};
}

/// The objects that alone keep at least so much, with how much that is.
std::vector<std::pair<py::object, std::int64_t>> keeping(const HeapSnapshot& heap,
                                                         const py::list& objects,
                                                         std::int64_t least) {
  std::vector<std::pair<py::object, std::int64_t>> found;
  for (const py::handle object : objects) {
    const auto kept = heap.retained_bytes(object.ptr());
    if (kept >= least) found.emplace_back(py::reinterpret_borrow<py::object>(object), kept);
  }
  return found;
}

using Labels = std::vector<std::string>;
using Ends = std::vector<std::pair<py::object, py::object>>;

std::vector<HeapSnapshot::Link> links_of(const Ends& ends) {
  std::vector<HeapSnapshot::Link> links;
  for (const auto& [from, to] : ends) links.emplace_back(from.ptr(), to.ptr());
  return links;
}

using ManyLabels = monitor::LargeVector<std::string>;
using Share = std::tuple<std::size_t, facts::Bytes, std::vector<std::size_t>>;

std::vector<Share> shares(const HeapSnapshot& heap, const ManyLabels& labels, const Labels& others,
                          std::int64_t least_bytes) {
  std::vector<Share> found;
  for (const auto& it : heap.shares(labels, others, least_bytes))
    found.emplace_back(it.label, it.kept, it.with);
  return found;
}

/// (cell, place, bytes).
using Birth = std::tuple<std::uint32_t, py::object, std::int64_t>;

std::vector<Birth> births_of(const std::vector<HeapSnapshot::Birth>& births) {
  std::vector<Birth> found;
  for (const auto& it : births) found.emplace_back(it.cell, place_of(it.site), it.bytes);
  return found;
}

using Holdings = std::vector<HeapSnapshot::Holding>;

/// What `find` finds without the GIL, with its ways.
template <typename Find>
Holdings described(const HeapSnapshot& heap, Find find) {
  Holdings found;
  {
    const py::gil_scoped_release release;
    found = find();
  }
  heap.describe_ways(found);
  return found;
}

Holdings out_of_reach(const HeapSnapshot& heap, const Labels& in_use, const Labels& hooks,
                      bool goes_on, std::int64_t least) {
  return described(heap, [&] { return heap.out_of_reach(in_use, hooks, goes_on, least); });
}

Holdings holdings(const HeapSnapshot& heap, const std::vector<std::uintptr_t>& blocks,
                  std::uintptr_t last, std::int64_t least) {
  return described(heap, [&] { return heap.holdings(blocks, last, least); });
}

HeapSnapshot::Account account(const HeapSnapshot& heap, const std::vector<Labels>& groups,
                              const monitor::ProcessPages& pages) {
  const py::gil_scoped_release release;
  return heap.account(groups, pages.blocks);
}

/// (object, way, kept bytes, the objects on the way to it).
using Container = std::tuple<py::object, std::string, std::int64_t, py::list>;

std::vector<Container> containers(const HeapSnapshot& heap, std::int64_t least, std::size_t most) {
  const facts::CollectorPaused paused;
  std::vector<Container> found;
  for (const auto& it : heap.containers(least, most)) {
    found.emplace_back(py::reinterpret_borrow<py::object>(it.object), it.way, it.kept,
                       as_list(it.way_there));
  }
  return found;
}

/// (object, way, the objects on the way to it, [(bytes, births) of each part]).
using Part = std::pair<std::int64_t, std::vector<Birth>>;
using Pile = std::tuple<py::object, std::string, py::list, std::vector<Part>>;

std::vector<Pile> piles(const HeapSnapshot& heap, std::int64_t least) {
  const facts::CollectorPaused paused;
  std::vector<Pile> found;
  for (const auto& it : heap.piles(least)) {
    std::vector<Part> parts;
    for (const auto& part : it.parts) parts.emplace_back(part.bytes, births_of(part.births));
    found.emplace_back(py::reinterpret_borrow<py::object>(it.object), it.way, as_list(it.way_there),
                       std::move(parts));
  }
  return found;
}

}  // namespace

void register_graph(py::module_& m) {
  m.def(
      "untracked_targets",
      [](const py::list& objects) { return as_list(facts::untracked_targets(as_vector(objects))); },
      py::arg("objects"), "Return what weak references lead to and the collector does not track.");
  py::class_<facts::LiveObjects>(m, "LiveObjects", "The objects that the collector tracks now.")
      .def(py::init<>())
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__", [](facts::LiveObjects& live, const py::args&) { live.let_go(); })
      .def("instances", instances, py::arg("base"),
           "Return those of a type or of a subtype, by the type pointer alone.")
      .def("made_in", made_in, py::arg("names"),
           "Return the instances of classes, and the functions, of a namespace.");
  m.def(
      "follow_births",
      [](std::size_t size, std::vector<std::string> libraries) {
        return facts::BirthPlaces::instance().start(size, std::move(libraries));
      },
      py::arg("size"), py::arg("libraries"), "Note where objects of a size are made.");
  m.def(
      "end_births", [] { facts::BirthPlaces::instance().stop(); }, "Note no more, and forget.");
  m.def(
      "birth_place",
      [](std::uintptr_t object) { return facts::BirthPlaces::instance().of(object); },
      py::arg("object"), "Return (file, line) of one that was noted.");
  py::class_<HeapSnapshot::GraphBytes>(m, "GraphBytes", "What the graph of one tensor keeps.")
      .def_readonly("tensor", &HeapSnapshot::GraphBytes::tensor)
      .def_readonly("way", &HeapSnapshot::GraphBytes::way)
      .def_readonly("kept", &HeapSnapshot::GraphBytes::kept)
      .def_readonly("own", &HeapSnapshot::GraphBytes::own)
      .def_readonly("storages", &HeapSnapshot::GraphBytes::storages);
  py::class_<HeapSnapshot::PinnedView>(m, "PinnedView", "A view and the memory behind it.")
      .def_readonly("object", &HeapSnapshot::PinnedView::object)
      .def_readonly("way", &HeapSnapshot::PinnedView::way)
      .def_readonly("shown", &HeapSnapshot::PinnedView::shown)
      .def_readonly("behind", &HeapSnapshot::PinnedView::behind)
      .def_readonly("memory", &HeapSnapshot::PinnedView::memory);
  py::class_<HeapSnapshot::Holding>(m, "Holding", "Memory that cells made, under what keeps it.")
      .def_readonly("way", &HeapSnapshot::Holding::way)
      .def_readonly("type_name", &HeapSnapshot::Holding::type_name)
      .def_readonly("by_users_code", &HeapSnapshot::Holding::by_users_code)
      .def_readonly("bytes", &HeapSnapshot::Holding::bytes)
      .def_readonly("count", &HeapSnapshot::Holding::count)
      .def_property_readonly("births",
                             [](const HeapSnapshot::Holding& it) { return births_of(it.births); });
  py::class_<HeapSnapshot::HeldBlock>(m, "HeldBlock", "A large block that labels lead to.")
      .def_property_readonly(
          "key", [](const HeapSnapshot::HeldBlock& it) { return std::pair(it.address, it.order); })
      .def_readonly("bytes", &HeapSnapshot::HeldBlock::bytes)
      .def_readonly("is_open", &HeapSnapshot::HeldBlock::is_open)
      .def_property_readonly("births",
                             [](const HeapSnapshot::HeldBlock& it) { return births_of(it.births); })
      .def_readonly("names", &HeapSnapshot::HeldBlock::labels);
  py::class_<HeapSnapshot::Owned>(m, "Owned", "Bytes of one owner, by allocator.")
      .def_readonly("pooled", &HeapSnapshot::Owned::pooled)
      .def_readonly("small", &HeapSnapshot::Owned::small)
      .def_readonly("large", &HeapSnapshot::Owned::large);
  py::class_<HeapSnapshot::Account>(m, "HeapAccount", "Whose the memory of the process is.")
      .def_readonly("groups", &HeapSnapshot::Account::groups)
      .def_readonly("rest", &HeapSnapshot::Account::rest)
      .def_readonly("pools", &HeapSnapshot::Account::pools)
      .def_property_readonly("of_groups",
                             [](const HeapSnapshot::Account& it) {
                               std::vector<std::vector<Birth>> found;
                               for (const auto& births : it.of_groups)
                                 found.push_back(births_of(births));
                               return found;
                             })
      .def_property_readonly("unnamed",
                             [](const HeapSnapshot::Account& it) { return births_of(it.unnamed); })
      .def_property_readonly("unseen",
                             [](const HeapSnapshot::Account& it) { return births_of(it.unseen); });
  py::class_<HeapSnapshot>(m, "HeapSnapshot", "The heap as a graph. Holds no reference to it.")
      .def_static("take", take, py::arg("slots"), py::arg("roots"), py::arg("saved"),
                  py::arg("deadline_ms"), py::arg("interrupted"),
                  "Read the heap and find who keeps what.")
      .def_property_readonly("object_count", &HeapSnapshot::object_count)
      .def_property_readonly("reference_count", &HeapSnapshot::reference_count)
      .def(
          "retained_bytes",
          [](const HeapSnapshot& heap, const std::string& label) {
            return heap.retained_bytes(label);
          },
          py::arg("label"), "Return what would be freed with a label.")
      .def(
          "own_bytes",
          [](const HeapSnapshot& heap, const std::string& label) { return heap.own_bytes(label); },
          py::arg("label"), "Return what the value of a label itself takes.")
      .def("reachable_bytes", &HeapSnapshot::reachable_bytes, py::arg("label"), py::arg("most"),
           "Return all that a label leads to, shared or not.")
      .def("retained_by_device", &HeapSnapshot::retained_by_device, py::arg("label"),
           "Return what of the retained bytes is tensors' own, by device.")
      .def("other_ways", &HeapSnapshot::other_ways, py::arg("label"), py::arg("most"),
           "Return how else the value of a label is reached, nearest first.")
      .def(
          "ways_besides",
          [](const HeapSnapshot& heap, const py::object& object,
             const std::vector<std::string>& without,
             std::size_t most) { return heap.ways_besides(object.ptr(), without, most); },
          py::arg("object"), py::arg("without"), py::arg("most"),
          "Return how an object is reached but through some labels, nearest first.")
      .def(
          "ways_to_parts",
          [](const HeapSnapshot& heap, const py::object& object,
             const std::vector<std::string>& without,
             std::size_t most) { return heap.ways_to_parts(object.ptr(), without, most); },
          py::arg("object"), py::arg("without"), py::arg("most"),
          "Return how the large parts of an object are reached but through some labels.")
      .def(
          "way_to",
          [](const HeapSnapshot& heap, const py::object& object) {
            return heap.way_to(object.ptr());
          },
          py::arg("object"), "Return a shortest way to an object.")
      .def(
          "is_reached",
          [](const HeapSnapshot& heap, const py::object& object) {
            return heap.is_reached(object.ptr());
          },
          py::arg("object"), "Return whether a label leads to an object.")
      .def(
          "only_in_graphs",
          [](const HeapSnapshot& heap, const py::list& tensors) {
            return as_list(heap.only_in_graphs(as_vector(tensors)));
          },
          py::arg("tensors"), "Return those that native code and other tensors alone refer to.")
      .def(
          "retained_by",
          [](const HeapSnapshot& heap, const py::object& object) {
            return heap.retained_bytes(object.ptr());
          },
          py::arg("object"), "Return what would be freed with an object.")
      .def("keeping", keeping, py::arg("objects"), py::arg("least"),
           "Return (object, bytes) of those that alone keep at least so many bytes.")
      .def("graphs", &HeapSnapshot::graphs, py::arg("least"), py::arg("shared") = false,
           py::arg("together") = false,
           "Return the tensors whose autograd graphs keep at least so many bytes, or with together "
           "those of one container do.")
      .def("pinned_views", &HeapSnapshot::pinned_views, py::arg("least"), py::arg("fraction"),
           "Return the views that show a fraction of what is behind them.")
      .def(
          "freed_by_detaching",
          [](HeapSnapshot& heap, const std::vector<std::uintptr_t>& tensors, bool everywhere) {
            using Where = HeapSnapshot::Where;
            return heap.freed_by_replacing(tensors, HeapSnapshot::Replacement::detached,
                                           everywhere ? Where::everywhere : Where::first);
          },
          py::arg("tensors"), py::arg("everywhere") = false,
          "Return what would be freed if tensors were detached.")
      .def(
          "freed_by_copying",
          [](HeapSnapshot& heap, const std::vector<std::uintptr_t>& objects) {
            return heap.freed_by_replacing(objects, HeapSnapshot::Replacement::copied);
          },
          py::arg("objects"), "Return what would be freed if copies took the place of views.")
      .def("freed_behind", &HeapSnapshot::freed_behind, py::arg("objects"), py::arg("memory"),
           "Return what of some memory behind views would be freed if they were copied.")
      .def(
          "freed_by",
          [](const HeapSnapshot& heap, const Labels& labels, const Ends& links) {
            return heap.freed_by(labels, links_of(links));
          },
          py::arg("labels"), py::arg("links") = Ends{},
          "Return, by owner, what would be freed once labels and references are gone.")
      .def(
          "would_wait",
          [](const HeapSnapshot& heap, const Labels& labels, const Ends& links) {
            return heap.would_wait(labels, links_of(links));
          },
          py::arg("labels"), py::arg("links") = Ends{},
          "Return whether some of that would wait for the collector.")
      .def(
          "waiting",
          [](const HeapSnapshot& heap, const py::list& without) {
            return heap.waiting(as_vector(without));
          },
          py::arg("without"), "Return, by owner, the garbage that waits for the collector.")
      .def("shares", shares, py::arg("labels"), py::arg("others"), py::arg("least_bytes"),
           "Return (label, bytes by owner, the others that lead to them) of labels that go "
           "together.")
      .def(
          "freed_without",
          [](const HeapSnapshot& heap, const py::list& objects) {
            return heap.freed_without(as_vector(objects));
          },
          py::arg("objects"), "Return what would be freed if nothing referred to objects.")
      .def(
          "holders_of",
          [](const HeapSnapshot& heap, const py::object& object) {
            return heap.holders_of(object.ptr());
          },
          py::arg("object"), "Return how many refer to an object.")
      .def("containers", containers, py::arg("least"), py::arg("most"),
           "Return the built-in containers that names lead to and that keep so many bytes.")
      .def(
          "garbage",
          [](const HeapSnapshot& heap, const py::list& objects) {
            return as_list(heap.garbage(as_vector(objects)));
          },
          py::arg("objects"), "Return those that nothing leads to but other garbage.")
      .def("garbage_cycles", garbage_cycles, py::arg("suspects"),
           "Return (its suspects, bytes) of each cycle of garbage that suspects close.")
      .def("way_around", way_around, py::arg("object"),
           "Return (steps, objects) of the shortest way from garbage back to itself.")
      .def(
          "keeps",
          [](const HeapSnapshot& heap, const py::object& holder, const py::object& object) {
            return heap.keeps(holder.ptr(), object.ptr());
          },
          py::arg("holder"), py::arg("object"), "Return whether an object would go with a holder.")
      .def(
          "kept_by",
          [](const HeapSnapshot& heap, const std::vector<std::string>& labels,
             const py::list& objects) { return as_list(heap.kept_by(labels, as_vector(objects))); },
          py::arg("labels"), py::arg("objects"), "Return those that nothing but labels keeps.")
      .def(
          "led_to",
          [](const HeapSnapshot& heap, const py::list& starts, const py::list& wanted) {
            return as_list(heap.led_to(as_vector(starts), as_vector(wanted)));
          },
          py::arg("starts"), py::arg("wanted"), "Return those of wanted that starts lead to.")
      .def(
          "births",
          [](const HeapSnapshot& heap, const std::string& label) {
            return births_of(heap.births(label));
          },
          py::arg("label"), "Return (cell, place, bytes) of what would be freed with a label.")
      .def(
          "births_together",
          [](const HeapSnapshot& heap, const Labels& labels) {
            return births_of(heap.births(labels));
          },
          py::arg("labels"), "Return the same of what would be freed with several labels.")
      .def(
          "births_of_own",
          [](const HeapSnapshot& heap, const py::list& objects) {
            return births_of(heap.births_of_own(as_vector(objects)));
          },
          py::arg("objects"), "Return where the memory of objects themselves was made.")
      .def(
          "elements",
          [](const HeapSnapshot& heap, const py::object& container) {
            const auto found = heap.elements(container.ptr());
            return std::pair(found.count, births_of(found.births));
          },
          py::arg("container"), "Return (count, births) of elements with memory that cells made.")
      .def("piles", piles, py::arg("least"),
           "Return what keeps memory that cells made in several parts.")
      .def(
          "names_leading_to",
          [](const HeapSnapshot& heap, const py::object& object) {
            return heap.names_leading_to(object.ptr());
          },
          py::arg("object"), "Return the labels that lead to an object.")
      .def(
          "births_outside",
          [](const HeapSnapshot& heap) { return births_of(heap.births_outside()); },
          "Return who made what native code or a running function alone keeps.")
      .def("out_of_reach", out_of_reach, py::arg("in_use"), py::arg("hooks"), py::arg("goes_on"),
           py::arg("least"),
           "Return what cells made and no label of a slot leads to, by what keeps it.")
      .def("holdings", holdings, py::arg("blocks"), py::arg("last"), py::arg("least"),
           "Return what keeps the blocks with these addresses.")
      .def("blocks", &HeapSnapshot::blocks, py::arg("labels"),
           py::call_guard<py::gil_scoped_release>(),
           "Return the large blocks that some labels lead to.")
      .def("blocks_behind", &HeapSnapshot::blocks_behind, py::arg("object"),
           "Return the keys of those that the object with an id leads to.")
      .def("account", account, py::arg("groups"), py::arg("pages"),
           "Return whose the memory of the process is, by groups of labels.")
      .def("largest", &HeapSnapshot::largest, py::arg("label"), py::arg("most"),
           "Return (way, own bytes) of the largest objects that only a label keeps.");
}

}  // namespace xleak::bindings
