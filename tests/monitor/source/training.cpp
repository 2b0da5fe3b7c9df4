#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

bool may_be_off(const std::string& code) {
  return Cells({"import torch\n" + code}).calls_to({"torch.cat"}).at(0).may_be_under_no_grad();
}
bool over_data(const std::string& code) { return Cells({code}).loops().at(0).is_over_data(); }

}  // namespace

TEST_SUITE("the words of training code") {
  TEST_CASE("a context or decorator that speaks of gradients is believed") {
    CHECK(may_be_off("with torch.no_grad():\n    torch.cat(x)"));
    CHECK(may_be_off("with torch.set_grad_enabled(phase == 'train'):\n    torch.cat(x)"));
    CHECK(may_be_off("with evaluating(model):\n    torch.cat(x)"));
    CHECK(may_be_off("@helpers.without_grad\ndef f(x):\n    torch.cat(x)"));
    CHECK_FALSE(may_be_off("with open(p) as f:\n    torch.cat(x)"));
    CHECK_FALSE(may_be_off("with torch.no_grad():\n    pass\ntorch.cat(x)"));
  }

  TEST_CASE("a loop over a loader or over batches runs once a batch") {
    for (const char* loop :
         {"for x, y in train_loader:\n    pass", "for i, x in enumerate(tqdm(valid_dl)):\n    pass",
          "for batch in source:\n    pass", "for x in self.loader:\n    pass",
          "for x in loaders['train']:\n    pass", "for x in data.train_dataloader():\n    pass",
          "from torch.utils.data import DataLoader as L\nd = L(s)\nfor x in d:\n    pass"}) {
      CAPTURE(loop);
      CHECK(over_data(loop));
    }
    CHECK_FALSE(over_data("for epoch in range(9):\n    pass"));
    CHECK_FALSE(over_data("while batch:\n    pass"));
  }

  TEST_CASE("what a loop binds differs from iteration to iteration") {
    const Cells code({"m = make()\nfor x in y:\n    z = x + 1\n    a(m), b(x), c(z), d(m.f)\n"});
    const Loop loop = code.loops().at(0);
    const auto changes = [&](const char* name) {
      for (const Call& call : code.calls()) {
        if (call.callee().text() == name) return loop.changes(call.arguments().at(0));
      }
      return false;
    };
    CHECK_FALSE(changes("a"));
    CHECK(changes("b"));
    CHECK(changes("c"));
    CHECK_FALSE(changes("d"));
  }

  TEST_CASE("a module is spelled as the program imports it") {
    const Cells code({"import torch as th\n"});
    CHECK(code.imported_as("torch") == "th");
    CHECK(code.imported_as("numpy").empty());
  }
}
