"""What the outcome of a test says of Troupe."""
import re

DTYPE = re.compile(r"(not one of|no kernel|not allowed|must be one of|does not take|unknown dtype|type .* is not supported|of a type that)")
UNIMPLEMENTED = 12


def place_of(told):
    return "".join("line " + line.split(":")[0] for line in told.get("line", [])[-1:])


def of_session(told):
    """The classes that the events of the session decide, whatever the test says."""
    events = told.get("events", [])
    by = lambda phase: [event["text"] for event in events if event["phase"] == phase]
    if by("MissingOps"):
        ops = re.search(r"no such ops?: (.*)", by("MissingOps")[0], re.S)
        return "missing_op", ops.group(1) if ops else by("MissingOps")[0]
    if by("DriverDied"):
        return "crash", by("DriverDied")[0]
    if told["outcome"] == "crash":
        return "crash_of_python", told.get("text", "")
    if by("ShimLimitation") or (told.get("error") == "UnboundLocalError" and "node_stats" in told.get("text", "")):
        return "beyond_the_instrument", (by("ShimLimitation") or ["run metadata"])[0]
    return None


def of_expectation(told, failures):
    """The class of a failed assertRaises."""
    kind, expected, got = told["notes"][-1]
    if kind == "text":
        return "text_differs", f"expected /{expected}/, got {got}"
    if kind == "wrong class" and failures and DTYPE.search(failures[-1]["text"]) and failures[-1]["phase"] == "load":
        return "dtype_missing", failures[-1]["op"] + ": " + failures[-1]["text"]
    return "wrong_error", f"expected {expected}, " + (f"nothing raised: {place_of(told)}" if kind == "not raised" else f"got {got}")


def of_assertion(told, failures):
    text = told.get("text", "")
    if failures and "not found in" in text:
        return "text_differs", text[:300]
    if failures and any(event["text"] in text for event in failures):
        return ("dtype_missing" if DTYPE.search(text) else "unexpected_error"), text
    return "wrong_value", f"{place_of(told)} :: {text}"


def classify(told):
    """Returns (class, detail) of a test that passes with TensorFlow."""
    if told["outcome"] == "skip":
        return "skipped", ""
    decided = of_session(told)
    if told["outcome"] == "pass" and (decided is None or decided[0] != "missing_op"):
        return ("pass" if told.get("runs") or told.get("events") else "nothing_run"), ""
    if decided:
        return decided
    if told["outcome"] == "timeout":
        return "timeout", place_of(told)
    failures = [event for event in told.get("events", []) if "code" in event]
    last = failures[-1] if failures else {"op": "", "text": told.get("text", ""), "code": 0}
    text = f"{last['op']}: {last['text']}"
    if last["code"] == UNIMPLEMENTED and not DTYPE.search(last["text"]) and not told.get("notes"):
        return "unsupported", text
    if told.get("notes"):
        return of_expectation(told, failures)
    if "OpError" in told.get("mro", []) or (failures and told.get("error") != "AssertionError"):
        return ("dtype_missing" if DTYPE.search(text) else "unexpected_error"), f"{text} {place_of(told)}"
    if told.get("error") == "AssertionError":
        return of_assertion(told, failures)
    return "other", f"{told.get('error')}: {told.get('text', '')[:500]} ({place_of(told)})"
