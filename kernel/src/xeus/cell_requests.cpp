#include "cell_requests.hpp"

#include <algorithm>
#include <deque>

#include "nlohmann/json.hpp"

namespace xleak::kernel {
namespace {

namespace nl = nlohmann;

// A whole notebook may have run before its first finding is sent. Each takes about half a kilobyte.
constexpr std::size_t kMostKept = 1000;
// More than front ends say of a cell; memory that is kept must not grow with what a client sends.
constexpr std::size_t kLargestKept = 64 << 10;

std::deque<CellRequest>& kept() {
  static std::deque<CellRequest> requests;
  return requests;
}

}  // namespace

void keep_request(int index, const xeus::xmessage& request) {
  if (request.metadata().empty()) return;
  const nl::json parent = {{"header", request.header()}, {"metadata", request.metadata()}};
  std::string text = parent.dump(-1, ' ', false, nl::json::error_handler_t::replace);
  if (text.size() > kLargestKept) return;
  kept().emplace_back(index, std::move(text));
  if (kept().size() > kMostKept) kept().pop_front();
}

std::vector<CellRequest> requests_since(int index) {
  const auto first = std::find_if(kept().begin(), kept().end(),
                                  [&](const CellRequest& it) { return it.first >= index; });
  return {first, kept().end()};
}

}  // namespace xleak::kernel
