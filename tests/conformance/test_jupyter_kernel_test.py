"""The samples that jupyter_kernel_test asks of every kernel of its language."""

import unittest

import jupyter_kernel_test


class XleakKernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "xleak"
    language_name = "python"
    file_extension = ".py"

    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [
        {"text": "zi", "matches": {"zip"}},
        {"text": "import json; json.loa", "matches": {"load", "loads"}},
        {"text": "%conf", "matches": {"%config"}},
    ]
    complete_code_samples = [
        "1",
        "print('hello, world')",
        "def f(x):\n  return x*2\n\n",
        "%timeit 1",
        "",
    ]
    incomplete_code_samples = [
        "print('''hello",
        "def f(x):\n  x*2",
        "for i in range(3):",
        "%%bash\necho",
    ]
    invalid_code_samples = ["import = 7q", "x = )"]
    code_page_something = "zip?"
    code_generate_error = "raise ValueError('on purpose')"
    code_execute_result = [
        {"code": "1+2+3", "result": "6"},
        {"code": "[n * n for n in range(1, 4)]", "result": "[1, 4, 9]"},
        {"code": "'a' * 3", "result": "'aaa'"},
        {"code": "from IPython.display import HTML; HTML('<b>x</b>')", "mime": "text/html"},
    ]
    code_display_data = [
        {
            "code": "from IPython.display import HTML, display; display(HTML('<b>x</b>'))",
            "mime": "text/html",
        },
        {
            "code": "from IPython.display import Math, display; display(Math('x^2'))",
            "mime": "text/latex",
        },
        {"code": "display({'a': 1})", "mime": "text/plain"},
    ]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"


class XleakWelcomeTests(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "xleak"
    support_iopub_welcome = True


if __name__ == "__main__":
    unittest.main()
