#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

TEST_SUITE("names in the source") {
  TEST_CASE("a function is known under every name that imports give it") {
    const char* const ways[] = {
        "import torch\ntorch.nn.functional.relu(x)",
        "import torch as th\nth.nn.functional.relu(x)",
        "import torch.nn.functional as F\nF.relu(x)",
        "from torch.nn import functional as G\nG.relu(x)",
        "from torch.nn.functional import relu\nrelu(x)",
        "from torch.nn.functional import *\nrelu(x)",
        "import torch.nn.functional\nr = torch.nn.functional.relu\nr(x)",
        "try:\n    from torch.nn.functional import relu\nexcept ImportError:\n    pass\nrelu(x)",
    };
    for (const char* way : ways) {
      CAPTURE(way);
      CHECK(Cells({way}).call("torch.nn.functional.relu"));
    }
  }

  TEST_CASE("the names of Keras are one") {
    for (const char* way :
         {"import keras\nkeras.Sequential()", "import tensorflow as tf\ntf.keras.Sequential()",
          "from tensorflow import keras as k\nk.Sequential()",
          "import tf_keras\ntf_keras.Sequential()"}) {
      CAPTURE(way);
      CHECK(Cells({way}).call("keras.Sequential"));
    }
  }

  TEST_CASE("a name of another library never matches") {
    CHECK_FALSE(Cells({"import requests\nrequests.Session()"}).call("tensorflow.Session"));
    CHECK_FALSE(Cells({"def cat(x): return x\ncat([1])"}).call("torch.cat"));
    CHECK_FALSE(Cells({"from torch import cat\ncat = len\ncat([1])"}).call("torch.cat"));
  }

  TEST_CASE("an import of one cell holds in the next") {
    const Cells code({"from torch import cat as glue", "def f(x):\n    return glue([x, x])"});
    CHECK(code.call("torch.cat").cell() == 2);
  }

  TEST_CASE("a local name hides the module's") {
    const Cells code({"import torch\ndef f(torch):\n    torch.cat([1])\ntorch.cat([2])"});
    CHECK(code.call("torch.cat").line() == 4);
  }

  TEST_CASE("the instance is one place in all methods, and in those of a derived class") {
    const Cells code(
        {"class A:\n    def __init__(self):\n        self.kept = []\n"
         "class B(A):\n    def add(me, x):\n        me.kept.append(x)\n"});
    const auto& stores = code.stores();
    REQUIRE(stores.size() == 1);
    CHECK(stores[0].container.place().bindings().size() == 1);
  }

  TEST_CASE("global and nonlocal names belong to where they were made") {
    const Cells code(
        {"kept = []\ndef f(x):\n    global kept\n    kept += [x]\n"
         "def g():\n    mine = []\n    def h(x):\n        nonlocal mine\n        mine += [x]\n"});
    REQUIRE(code.stores().size() == 2);
    CHECK(code.stores()[0].container.place().is_module_level());
    CHECK(code.stores()[1].container.place().outlives(code.stores()[1].site));
    CHECK_FALSE(code.stores()[1].container.place().is_module_level());
  }

  TEST_CASE("a file beside the notebook is part of the program") {
    for (const char* way :
         {"import helpers\nr = helpers.run(1)", "import helpers as h\nr = h.run(1)",
          "from helpers import run\nr = run(1)", "from helpers import run as go\nr = go(1)"}) {
      CAPTURE(way);
      SourceCell module{"import torch\ndef run(x):\n    return torch.cat([x])\n", -1};
      module.module = "helpers";
      const SourceView code({module, {way, 1}});
      const auto sites = code.functions().at(0).call_sites();
      REQUIRE(sites.size() == 1);
      CHECK(sites[0].cell() == 1);
      CHECK(sites[0].value().is_tensor());
    }
  }
}
