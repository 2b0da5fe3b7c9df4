#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

std::string edited(std::string text, const Edit& edit) {
  return text.replace(edit.start, edit.stop - edit.start, edit.text);
}

}  // namespace

TEST_SUITE("spots in the source") {
  TEST_CASE("a statement gets a line before or behind it, as deep as itself") {
    const std::string text = "for x in y:\n\ta(x)  # why\n\tb(x)\n";
    const Cells cells({text});
    const Expr statement = cells.calls()[0].statement();
    CHECK(edited(text, statement.line_before("n()").value()) ==
          "for x in y:\n\tn()\n\ta(x)  # why\n\tb(x)\n");
    CHECK(edited(text, statement.line_after("n()").value()) ==
          "for x in y:\n\ta(x)  # why\n\tn()\n\tb(x)\n");
  }

  TEST_CASE("what half-written code lacks is absent, and answers") {
    const Cells cells({"f()\n"});
    const auto arguments = cells.calls()[0].arguments();
    CHECK_FALSE(arguments.front());
    CHECK_FALSE(arguments.back().made_by().callee());
    CHECK_FALSE(arguments[3].place());
  }

  TEST_CASE("a statement that shares its line gets none") {
    const Cells cells({"for x in y: a(x); b(x)\n"});
    CHECK_FALSE(cells.calls()[0].statement().line_before("n()"));
    CHECK_FALSE(cells.calls()[0].statement().line_after("n()"));
  }

  TEST_CASE("what is shown is the last value of a cell, unless a semicolon follows") {
    const Cells cells({"a = 1\na", "b;", "c = 2", "", "d  # so"});
    const auto shown = cells.displayed();
    REQUIRE(shown.size() == 2);
    CHECK(shown[0].text() == "a");
    CHECK(shown[1].text() == "d");
  }

  TEST_CASE("the ends of an expression, and of nothing") {
    const Cells cells({"f(a, b)\n()"});
    CHECK(cells.calls()[0].first_child().text() == "f");
    CHECK(cells.calls()[0].last_child().text() == "b");
    CHECK_FALSE(cells.displayed()[0].first_child());
    CHECK_FALSE(cells.displayed()[0].last_child());
    CHECK_FALSE(Expr().last_child());
  }

  TEST_CASE("a program of several cells is a notebook") {
    CHECK(Cells({"a", "b"}).is_notebook());
    CHECK_FALSE(Cells({"a"}).is_notebook());
    const SourceCell helper{"a", 1, 1, {}, "helper"};
    CHECK_FALSE(SourceView({helper, {"import helper", 1}}).is_notebook());
    CHECK(SourceView({helper, {"import helper", 1}, {"b", 2}}).is_notebook());
  }

  TEST_CASE("the handlers are found, and what is around them") {
    const Cells cells({"try:\n    f()\nexcept (A, B) as e:\n    g(e)\n"});
    REQUIRE(cells.handlers().size() == 1);
    CHECK(cells.calls()[1].enclosing(source::Kind::except_branch) == cells.handlers()[0]);
    CHECK_FALSE(cells.calls()[0].enclosing(source::Kind::except_branch));
    CHECK(cells.handlers()[0].child(source::Field::item).text() == "(A, B) as e");
    CHECK(cells.handlers()[0].child(source::Field::body).text() == "g(e)");
  }

  TEST_CASE("a move to a device is told from a cast") {
    const auto moves = [](const std::string& code) {
      const Cells cells({"import torch\nmine = torch.device('cuda')\n", code});
      return cells.calls().back().moves_to_device();
    };
    for (const char* way : {"x.cuda()", "x.to('cuda:1')", "x.to(device)", "x.to(mine)",
                            "x.to(y.device)", "x.to(device=self.dev)"}) {
      CAPTURE(way);
      CHECK(moves(way));
    }
    for (const char* way : {"x.to(torch.float16)", "x.cpu()", "x.to('cpu')", "torch.cuda()"}) {
      CAPTURE(way);
      CHECK_FALSE(moves(way));
    }
  }
}
