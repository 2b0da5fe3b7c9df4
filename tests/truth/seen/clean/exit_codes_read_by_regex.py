# /// truth
# question = "hides"
# style = "short"
# needs = []
# thread = "Stack Overflow about 2012 on match objects that keep the searched text; written as the answer says, with the groups"
# ///
# %%
import re

def read_log(day):
    return f"day {day}\n" + "POST /cart 201 0.020\n" * 180_000 + f"worker exit code {day * 5 % 3}\n"

exits = {}
for day in range(1, 11):
    m = re.search(r"exit code (\d)", read_log(day))
    if m:
        exits[day] = int(m.group(1))
    del m
# %%
print(sum(code == 0 for code in exits.values()), "of", len(exits), "days without an error")
