"""The rows of docs/practices.md: what the study and the methods behind xleak recommend, and what answers it."""

from __future__ import annotations

from typing import NamedTuple


class Practice(NamedTuple):
    """One row. rules: codes; commands: what a user types, or calls; says: what the rest does not tell."""

    name: str
    rules: str = ""
    commands: str = ""
    says: str = ""


OF_THE_STUDY = [
    Practice(
        "1 Change tensors in place", "XL110 XL117", says="never proposed where a graph is recorded"
    ),
    Practice(
        "2 Drop axes of size one",
        "XL111 XL115",
    ),
    Practice(
        "3 Heavy products off the device",
        "XL602",
        says="asks for parts or half precision; the host is a trade and not proposed",
    ),
    Practice("4 Keep intermediate results on purpose", "XL101 XL210"),
    Practice(
        "5 Local names in `forward`", "XL103", "%xleak devices", "counts the plain attributes"
    ),
    Practice("6 Arrays, not tensors, in memories", "XL104"),
    Practice(
        "7 Detach what is kept", "XL102 XL203 XL208", says="its `run` repairs detach in place"
    ),
    Practice("8 Remove hooks, keep `self` out", "XL107", says="by the cell that added them"),
    Practice("9 Static methods, no piles of objects", "XL105"),
    Practice("10 Break cycles", "XL106 XL113", says="the way around is written out"),
    Practice(
        "11 Give device memory back", "XL601", "%release_cache", "bytes that came back are counted"
    ),
    Practice(
        "12 Trace in a process of its own", "XL301", says="says that a restart alone frees it"
    ),
    Practice("13 Clean the shell", "XL401 XL402", "%xdel"),
    Practice("14 Release what was deleted", "XL108", says="who still holds it is named"),
    Practice("15 Empty caches by hand", "XL109 XL604", "%release_cache"),
    Practice(
        "16 No debugging in production",
        "XL211",
        "%leakcheck --diagnose",
        "the modes of torch are a line of `%leakcheck`, `%%leakcheck`, `%memreport` and the diagnosis",
    ),
    Practice("17 Blocks without gradients", "XL201"),
    Practice("18 `torch.autograd.grad` for second derivatives", "XL205"),
    Practice("19 Statistics without gradients", "XL207"),
    Practice("20 No gradients in inference", "XL202"),
    Practice("21 `save_for_backward`", "XL210"),
    Practice("22 Reset gradients first", "XL204"),
    Practice("23 No nested derivatives", "XL209"),
    Practice("24 One pass back for each graph", "XL206 XL203"),
    Practice("25 Build models before the loop", "XL306"),
    Practice("26 No `zip` or `cycle` around loaders", "XL304"),
    Practice("27 Workers that persist, and end", "XL305 XL320 XL321"),
    Practice(
        "28 Batches that fit",
        "XL603",
        "%leakcheck --diagnose, %xleak oom",
        "share of activations in the peak; a largest batch by two profiled cells with batches of different sizes, "
        "where their peaks are on a line",
    ),
    Practice("29 Process groups before the loop", "XL302"),
    Practice("30 Loops that end", "XL303", "xleak.watch", "told while the cell still runs"),
    Practice("31 Clear Keras between models", "XL501"),
    Practice("32 One `fit`", "XL502 XL516"),
    Practice("33 Compiled steps", "XL503 XL530 XL531"),
    Practice("34 One dataset, reused", "XL504", "%xleak env", "shows the setting of memory growth"),
    Practice("35 Exit conditions", "XL303 XL505"),
    Practice("36 Close sessions", "XL506"),
    Practice("37 Reset the GPU between runs", "XL507", "%release_cache"),
    Practice("38 Context managers for resources", "XL508 XL505"),
    Practice(
        "39 Dispose of tensors",
        "XL509",
        says="Python needs no disposal; the rule finds what keeps them",
    ),
    Practice("40 Shapes that agree", "XL510 XL115"),
    Practice("41 One iterator", "XL511 XL320"),
    Practice("42 No model for each iteration", "XL512"),
    Practice(
        "43 Reset a model that is reused",
        "XL513",
        says="stateless metrics: not offered, no rule sees them",
    ),
    Practice("44 Batches that divide", "XL514"),
    Practice("45 Feed large data", "XL515"),
    Practice("46 A graph of its own", "XL516"),
    Practice("47 Layers for own operations", "XL517"),
    Practice("48 Layers in place of lambdas", "XL517"),
    Practice("49 TensorFlow's operations in layers", "XL518 XL530"),
    Practice("50 One environment", "XL519", "%xleak env"),
    Practice("51 Few workers for a search", "XL520"),
]

OF_THE_METHOD = [
    Practice(
        "Which symptom",
        commands="%leakcheck --diagnose",
        says="grows, ran out, not freed, slow, or none",
    ),
    Practice(
        "Memory at forward, backward, step and epoch",
        commands="%memreport, %%leakcheck --profile",
        says="by cell always, by phase for a profiled cell; an epoch is a cell or `xleak.watch`; what is "
        "reserved is told by cell, not by phase",
    ),
    Practice("Gradients are reset", "XL204", "%leakcheck --diagnose"),
    Practice("Results are detached", "XL101 XL102 XL203", "%leakcheck --diagnose"),
    Practice("Hidden states are cut", "XL208", "%leakcheck --diagnose"),
    Practice("Evaluation without graphs", "XL201 XL202", "%leakcheck --diagnose"),
    Practice("Cycles", "XL106 XL113 XL205 XL403", "%leakcheck --diagnose, %release_cache"),
    Practice("In place, with care", "XL117", says="never where a graph is recorded"),
    Practice(
        "Contiguity",
        "XL116",
        "%memreport",
        "a column of the largest tensors, by their strides; the rule of the lines that take time",
    ),
    Practice("Placement, pinning", "XL605 XL610", "%leakcheck --diagnose"),
    Practice(
        "Broadcasts",
        "XL115",
        says="both forms under `%timeit`: not offered, it would run the user's code",
    ),
    Practice("Pools of buffers", "XL114"),
    Practice(
        "One device for a module",
        "XL606",
        "%xleak devices",
        "after a cell that moved or loaded a module, trained first or failed for its devices; inputs and "
        "targets are told of a pass that failed, and by their names when asked: those of a pass that went "
        "through are not kept",
    ),
    Practice("Mixed precision", "XL607", says="one message for each of its mistakes"),
    Practice("Several cards", "XL608", "%xleak devices"),
    Practice(
        "Peak and summary",
        commands="%memreport, %leakcheck --html",
        says="the peak of each cell by the allocator's own trace; torch's counters are never reset",
    ),
    Practice(
        "Operators above a tenth of the time",
        commands="%%leakcheck --profile",
        says="with copies, reads, waits and the trace; `%leakcheck --diagnose` has its numbers afterwards",
    ),
    Practice(
        "Snapshot of a device",
        commands="%memreport --snapshot, %%memreport --snapshot",
        says="torch's own; without a device the cells over time as JSON",
    ),
    Practice("Pitfalls 1 to 6", "XL102 XL208 XL201 XL605 XL116 XL114"),
    Practice("Out of memory: state", commands="%xleak oom"),
    Practice(
        "Out of memory: four checks", "XL204 XL201 XL102 XL208", "%xleak oom, %leakcheck --diagnose"
    ),
    Practice(
        "Out of memory: which part of the step",
        commands="%%leakcheck --profile",
        says="which phase ran out beside the peaks of the others; a replay with parts left out is not offered: "
        "it would change what the code does",
    ),
    Practice("Out of memory: one iteration", commands="%%memreport --snapshot"),
    Practice("Out of memory: fragments", "XL604", says="from 1.5 times what is allocated"),
    Practice("After it", "XL402 XL620", "%xleak oom, %release_cache"),
    Practice("Slow: time a step", commands="%%leakcheck --profile"),
    Practice(
        "Slow: a device that waits",
        "XL610",
        "%leakcheck --diagnose, %%leakcheck --profile, %xleak devices",
        "by the time at the head of the loop, and by that in which the device computed in a profiled cell; "
        "`%xleak devices` has the driver's own number",
    ),
    Practice("Slow: profiler", commands="%%leakcheck --profile"),
    Practice("Slow: reads of the device", "XL609", "%leakcheck --diagnose"),
    Practice("Before training", "XL606 XL605 XL610 XL607 XL608", "%leakcheck --diagnose"),
    Practice("Training loop", "XL204 XL102 XL208 XL201", "%leakcheck --diagnose"),
    Practice("Performance", "XL114 XL116 XL117 XL605 XL607", "%leakcheck --diagnose"),
    Practice(
        "When debugging", "XL116 XL606 XL211", "%leakcheck --diagnose, %xleak devices, %xleak env"
    ),
    Practice(
        "A whole loop that is right",
        says="`tests/python/complete_training.py` runs in the tests: nothing is told of it",
    ),
]

OF_THE_WATCHER = [
    Practice("Small growth for each epoch", commands="xleak.watch", says="a slope, not one limit"),
    Practice("What is new since a moment", commands="%xleak watch --diff"),
    Practice(
        "Warn or raise", commands="xleak.watch", says="shape, type, device and line; never contents"
    ),
    Practice(
        "Identity that is not used twice",
        says="storages are followed by their own key, not by `id()`",
    ),
    Practice(
        "Bytes that Python does not see", "XL101 XL203 XL206", says="graphs are walked in C++"
    ),
    Practice(
        "A watcher that keeps nothing", says="tensors are followed without keeping their memory"
    ),
    Practice("A loss that is summed up", "XL203"),
    Practice("A list of tensors", "XL102 XL101"),
    Practice("Networks hidden in a subclass", "XL112"),
    Practice("Starting from an out-of-memory error", commands="%xleak oom"),
    Practice("In unit tests", commands="xleak.watch", says="also a fixture and a mark of pytest"),
]

OF_ALL = [
    Practice(
        "Two ways to classify",
        commands="xleak rules, %leakcheck --explain, %leakcheck --by",
        says="category and scope of each rule",
    ),
    Practice(
        "The same mistake in both frameworks",
        commands="%leakcheck --explain",
        says="names the twin",
    ),
    Practice(
        "A defect of the framework",
        "XL301 XL205",
        says="where a restart alone frees, the message says so",
    ),
    Practice(
        "Static or not",
        says="a rule that reads alone is a suspicion until memory confirms it: `%leakcheck --notes`",
    ),
    Practice(
        "Leak or merely slow",
        commands="xleak rules, %leakcheck --by",
        says="effect of each rule: leak, peak, speed, or a wrong result",
    ),
    Practice("Fifty practices", says="each rule's own page shows what to do instead"),
]

SECTIONS = {
    "Best practices of the study": OF_THE_STUDY,
    "The method of a leak hunt": OF_THE_METHOD,
    "A watcher of training code": OF_THE_WATCHER,
    "All rules": OF_ALL,
}
