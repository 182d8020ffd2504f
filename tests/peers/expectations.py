"""Saying what is wrong in few words."""

import json

PATIENCE = 180  # seconds for any command, and for a whole session of a client


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def equal(seen, wanted, what):
    expect(seen == wanted, f"{what}: {brief(seen)} instead of {brief(wanted)}")


def brief(value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 600 else text[:600] + "…"
