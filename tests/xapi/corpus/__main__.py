"""The table: body, verdict, right or wrong."""

from tests.xapi.corpus import cases, sentence, verdicts

wrong = 0
for case in cases():
    for endpoint, verdict, expected in verdicts(case):
        wrong += verdict != expected
        mark = (
            "right" if verdict == expected else f"WRONG, expected {'; '.join(map(str, expected))}"
        )
        body = f"{case['file']}: {case['name']} {endpoint}".strip()
        print(f"{body} | {'; '.join(verdict)} | {mark}")
        if case["file"] == "refusals":
            print(f"    {sentence(case, endpoint)}")
print(f"{wrong} wrong")
