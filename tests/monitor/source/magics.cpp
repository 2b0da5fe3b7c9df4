#include "source/magics.hpp"

#include <doctest/doctest.h>

using namespace xleak::monitor;

namespace {

std::string python(std::string_view text) { return source::only_python(text, 1).text; }

}  // namespace

TEST_SUITE("lines of IPython") {
  TEST_CASE("magics, commands and help are blanked at their length") {
    CHECK(python("%matplotlib inline\nx = 1") == "pass              \nx = 1");
    CHECK(python("!ls -l\nx") == "pass  \nx");
    CHECK(python("x?\ny") == "0 \ny");
    CHECK(python("if a:\n    %cd ..\n") == "if a:\n    pass  \n");
    CHECK(python("files = !ls") == "files = 0  ");
  }

  TEST_CASE("a command goes on after a backslash") {
    CHECK(python("!pip install \\\n  torch\nx") == "pass          \n  pass \nx");
  }

  TEST_CASE("the Python that %time and %%time run stays where it can be read") {
    CHECK(python("%time f(x)\ny") == "0;    f(x)\ny");
    CHECK(python("t = %time f(x)") == "t =       f(x)");
    CHECK(python("%%time\nf(x)") == "      \nf(x)");
    CHECK(python("%%bash\nls").find_first_not_of(" \n") == std::string::npos);
  }

  TEST_CASE("below the marker of a script's cell its magic is the first line") {
    CHECK(python("# %% run\n%%time\nf(x)") == "        \n      \nf(x)");
    CHECK(python("# %% run\n%%bash\nls").substr(9).find_first_not_of(" \n") == std::string::npos);
  }

  TEST_CASE("an operator at the start of a line is none of IPython's") {
    for (const char* code : {"x = (a\n     % b)", "t = '''\n%magic\n!ls\n'''", "x = a \\\n  % b",
                             "a != b", "print('why?')", "\r\n \r\nx = 1\r\n", "x = '#'",
                             "x = \"\"\"\n# text\n\"\"\"", "f('a%b')"}) {
      CAPTURE(code);
      CHECK(python(code) == code);
    }
  }

  TEST_CASE("comments are blanked, and those that speak to xleak are kept") {
    CHECK(python("x = 1  # one\n# two\ny") == "x = 1       \n     \ny");
    const auto remarks = source::only_python("x\ny  # xleak: ignore[XL203]", 4).remarks;
    REQUIRE(remarks.size() == 1);
    CHECK(remarks[0].cell == 4);
    CHECK(remarks[0].line == 2);
    CHECK(remarks[0].text == "# xleak: ignore[XL203]");
  }

  TEST_CASE("what the lines were is kept") {
    const auto magics = source::only_python("x = 1\n%env CUDA_HOME=/opt\n!ls", 3).magics;
    REQUIRE(magics.size() == 2);
    CHECK(magics[0].cell == 3);
    CHECK(magics[0].line == 2);
    CHECK(magics[0].name == "env");
    CHECK(magics[0].rest == "CUDA_HOME=/opt");
    CHECK(magics[1].name == "!");
    CHECK(magics[1].rest == "ls");
  }
}
