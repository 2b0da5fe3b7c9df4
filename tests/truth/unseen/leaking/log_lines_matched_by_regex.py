# /// truth
# question = "hides"
# style = "short"
# needs = []
# thread = "Stack Overflow and bugs.python.org, about 2012: a stored re match object keeps the whole searched text alive, answer says to keep the groups"
# leaked = "10 * 26 * 160_000"
# cause_cell = 1
# cause_line = "GET /index.html 200 0.012"
# holder = ["exit_matches"]
# repair = "exit_matches = [int(m.group(1)) for m in exit_matches]; del m"
# ///
# %%
import re

def read_log(day):
    return f"day {day}\n" + "GET /index.html 200 0.012\n" * 160_000 + f"worker exit code {day * 7 % 5}\n"

exit_matches = []
for day in range(1, 11):
    m = re.search(r"exit code (\d)", read_log(day))
    if m:
        print(day, m.group(1))
        exit_matches.append(m)
# %%
print(len(exit_matches), "days with an exit code")
