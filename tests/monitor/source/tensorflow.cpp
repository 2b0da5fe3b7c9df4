#include "source/tensorflow.hpp"

#include <doctest/doctest.h>

#include "source/view.hpp"

using namespace xleak::monitor;

namespace {

bool has_model_per_iteration(const std::string& code) {
  return !tensorflow::models_per_iteration(Cells({"import keras\n" + code})).empty();
}

}  // namespace

TEST_SUITE("TensorFlow and Keras in the source") {
  TEST_CASE("a model that is made and trained in each iteration is found") {
    for (const char* way :
         {"for fold in folds:\n    m = keras.Sequential([])\n    m.fit(fold)",
          "def run(c):\n    m = keras.Sequential([])\n    m.fit(c)\nfor c in cs: run(c)",
          "def make():\n    m = keras.Sequential([])\n    m.compile()\n    return m\n"
          "while True:\n    net = make()\n    net.predict(x)"}) {
      CAPTURE(way);
      CHECK(has_model_per_iteration(way));
    }
  }

  TEST_CASE("a model that is kept, or made once, is none") {
    for (const char* way :
         {"m = keras.Sequential([])\nfor fold in folds: m.fit(fold)",
          "for fold in folds:\n    m = keras.Sequential([])\n    m.fit(fold)\n    kept.append(m)",
          "for size in (1, 2):\n    m = keras.Sequential([])\n    m.fit(x)",
          "for fold in folds:\n    if m is None:\n        m = keras.Sequential([])\n    "
          "m.fit(x)"}) {
      CAPTURE(way);
      CHECK_FALSE(has_model_per_iteration(way));
    }
  }

  TEST_CASE("TensorFlow 1 has its names under compat too") {
    for (const char* way : {"import tensorflow as tf\ntf.compat.v1.Session()",
                            "import tensorflow as tf\ntf.Session()",
                            "import tensorflow.compat.v1 as tf\ntf.Session()",
                            "from tensorflow.compat.v1 import Session\nSession()"}) {
      CAPTURE(way);
      CHECK(tensorflow::is_graph_mode(Cells({way})));
    }
    CHECK_FALSE(tensorflow::is_graph_mode(Cells({"import requests\nrequests.Session()"})));
  }

  TEST_CASE("a function is compiled by a decorator, by a call, or by the one around it") {
    for (const char* way :
         {"@tf.function\ndef f(x): probe(x)", "@tf.function(jit_compile=True)\ndef f(x): probe(x)",
          "def f(x): probe(x)\nf = tf.function(f)", "f = tf.function(lambda x: probe(x))",
          "@tf.function\ndef f(x):\n    def g(y): probe(y)\n    return g(x)"}) {
      CAPTURE(way);
      const Cells cells({"import tensorflow as tf", way});
      for (const Call& call : cells.calls()) {
        if (call.callee().text() == "probe") CHECK(tensorflow::is_compiled(cells, call));
      }
    }
  }

  TEST_CASE("arrays are large that come from a file or say so") {
    const auto large = [](const std::string& code) {
      const Cells cells({"import numpy as np", "a = " + code, "probe(a)"});
      return tensorflow::is_large_array(cells.calls().back().arguments().at(0));
    };
    CHECK(large("np.load('x.npy')"));
    CHECK(large("np.zeros((1000, 100))"));
    CHECK(large("np.eye(9223372036854775807)"));
    CHECK(large("np.random.rand(50_000).astype('float32')"));
    CHECK(large("np.asarray(np.loadtxt('x.txt'))"));
    CHECK_FALSE(large("np.array(means)"));
    CHECK_FALSE(large("np.zeros(count)"));
    CHECK_FALSE(large("np.zeros(10)"));
    CHECK_FALSE(large("np.eye(3)"));
    CHECK_FALSE(large("np.array([1.0, 2.0])"));
    CHECK_FALSE(large("np.mean(x)"));
  }

  TEST_CASE("a line is put above or below a statement of its own") {
    const Cells cells({"import gc as g\nfor i in x:\n    f(i)  # why\nh(); k()"});
    const auto calls = cells.calls();
    CHECK(calls[0].line_before("a()")->text == "a()\n    ");
    CHECK(calls[0].line_after("a()")->text == "\n    a()");
    CHECK(calls[0].line_after("a()")->start == 42);
    CHECK_FALSE(calls[1].line_after("a()"));
    CHECK_FALSE(calls[2].line_before("a()"));
    CHECK(cells.imported_as("gc") == "g");
  }
}
