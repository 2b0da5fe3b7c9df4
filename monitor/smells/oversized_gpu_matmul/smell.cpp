// A product of two large matrices is there whole, beside both of them.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "device_cells.hpp"
#include "xleak/monitor/bytes.hpp"
#include "xleak/monitor/source.hpp"

namespace xleak::monitor::smells::oversized_gpu_matmul {
namespace {

// A quarter of the device for one result leaves no room for a second step like it.
constexpr double kLargeShare = 0.25;

bool is_too_large(const Holder& product, const DeviceState& device) {
  if (!device.total_bytes || *device.total_bytes <= 0) return false;
  // A result that lives on counts whatever ran since; one that is gone was part of a peak.
  const bool is_kept = product.count > 0;
  if (!is_kept && !used_last(device, product.since_cell)) return false;
  return static_cast<double>(product.held_bytes) >=
         kLargeShare * static_cast<double>(*device.total_bytes);
}

Finding measured(const Holder& product, const DeviceState& device, const SessionView& session) {
  Finding finding;
  finding.cell = session.cell;
  finding.cause_cell = product.since_cell;
  finding.holders = {product.label};
  finding.path = {product.label, "result"};
  finding.message = "`" + product.label + "` makes " + human(product.held_bytes) +
                    " in one piece, " + share_of(device, product.held_bytes) +
                    ", beside both factors. Go through the rows with `.split(…)` and keep what is "
                    "needed of each part, or multiply in half precision.";
  if (!product.release.empty()) {
    finding.bytes = product.held_bytes;
    finding.fixes = {{"Delete the product", product.release}};
  }
  finding.severity = Severity::warning;
  finding.key = "product " + product.label;
  return finding;
}

std::vector<Finding> at_run_time(const SessionView& session) {
  std::vector<Finding> findings;
  for (const Holder& holder : session.holders) {
    if (holder.kind != "matrix product") continue;
    const DeviceState* device = find_device(session, holder.largest);
    if (device != nullptr && is_too_large(holder, *device))
      findings.push_back(measured(holder, *device, session));
  }
  return findings;
}

using source::Kind;
using source::Operator;

// A float takes 4 bytes; a gibibyte is what a device of today feels.
constexpr double kItemBytes = 4;
constexpr double kLargeBytes = 1LL << 30;

struct Shape {
  long long rows = 0, columns = 0;
};

// The two literal numbers of `torch.rand(60_000, 768, device="cuda")`.
std::optional<Shape> made_with(const Call& call) {
  if (!call.callee().is_dotted(
          {"torch.rand", "torch.randn", "torch.zeros", "torch.ones", "torch.empty"})) {
    return std::nullopt;
  }
  auto sizes = call.arguments();
  if (sizes.size() == 1 && (sizes[0].is(Kind::tuple) || sizes[0].is(Kind::list)))
    sizes = sizes[0].children();
  if (sizes.size() != 2) return std::nullopt;
  const auto rows = sizes[0].integer();
  const auto columns = sizes[1].integer();
  if (!rows || !columns) return std::nullopt;
  return Shape{*rows, *columns};
}

// Of a name that is made once, or of its transpose.
std::optional<Shape> shape_of(const Expr& operand) {
  const Expr object = operand.child(source::Field::object);
  const bool is_attribute = operand.is(Kind::attribute) && operand.name() == "T";
  const Call transposing = operand.as_call();
  const bool is_call = transposing && transposing.method() == "t";
  if (is_attribute || is_call) {
    const auto shape = shape_of(is_attribute ? object : transposing.receiver());
    return shape ? std::optional<Shape>({shape->columns, shape->rows}) : std::nullopt;
  }
  if (!operand.value().on_device) return std::nullopt;
  for (Call made = operand.made_by(); made; made = made.receiver().as_call()) {
    if (const auto shape = made_with(made)) return shape;
  }
  return std::nullopt;
}

void judge(const Expr& product, const Expr& left, const Expr& right,
           std::vector<Finding>& findings) {
  const auto a = shape_of(left);
  const auto b = shape_of(right);
  if (!a || !b || a->columns != b->rows) return;
  const double bytes = static_cast<double>(a->rows) * static_cast<double>(b->columns) * kItemBytes;
  if (bytes < kLargeBytes) return;
  findings.push_back(product.finding(
      "The product takes a GiB or more on the device, beside both factors. Go through the rows "
      "with `" +
      std::string(left.text()) + ".split(…)` and keep what is needed of each part."));
}

// The name that `torch.rand(…).cuda()` is assigned to.
Place name_of(const Call& factory) {
  Expr at = factory;
  while (at.parent().is(Kind::attribute) && at.parent().parent().is(Kind::call))
    at = at.parent().parent();
  return at.as_call().target().place();
}

// `a @ b`, where one of them is such a name or its transpose; each once, in the order of the code.
List<Expr> products_of(const List<Call>& factories) {
  List<Expr> products;
  for (const Call& factory : factories) {
    for (const Expr& use : name_of(factory).uses()) {
      Expr above = use.parent();
      while (above.is(Kind::attribute) || above.is(Kind::call)) above = above.parent();
      const bool multiplies = above.is(Kind::binary) && above.op() == Operator::matmul;
      if (multiplies && above.children().size() == 2) products.push_back(above);
    }
  }
  std::sort(products.begin(), products.end());
  products.erase(std::unique(products.begin(), products.end()), products.end());
  return products;
}

std::vector<Finding> in_source(const SourceView& code) {
  std::vector<Finding> findings;
  const auto factories =
      code.calls_to({"torch.rand", "torch.randn", "torch.zeros", "torch.ones", "torch.empty"});
  if (factories.empty()) return findings;
  for (const Call& call : code.calls_to({"torch.matmul", "torch.mm", "torch.cdist"})) {
    if (call.arguments().size() == 2)
      judge(call, call.arguments()[0], call.arguments()[1], findings);
  }
  for (const Call& call : code.calls_of({"matmul", "mm"})) {
    if (call.callee().dotted().empty() && call.arguments().size() == 1)
      judge(call, call.receiver(), call.arguments()[0], findings);
  }
  for (const Expr& product : products_of(factories)) {
    judge(product, product.children()[0], product.children()[1], findings);
  }
  return findings;
}

}  // namespace

extern const Smell smell;
const Smell smell{"XL602", "oversized_gpu_matmul", Severity::note, at_run_time, in_source};

}  // namespace xleak::monitor::smells::oversized_gpu_matmul
