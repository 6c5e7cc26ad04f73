"""One object a line; the last line may be torn, another may not."""

import pytest

from verify import json_lines
from verify.json_lines import DamagedLineError

OBJECTS = [{"a": 1}, {"b": "zwei\nlines, \u2028 and é"}, {}]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "found.jsonl"
    for line in OBJECTS:
        json_lines.append(path, line)
    return path


def test_objects_come_back_and_write_is_append_at_once(path, tmp_path):
    assert json_lines.read(path) == OBJECTS
    assert path.read_bytes().count(b"\n") == len(OBJECTS)
    json_lines.write(tmp_path / "whole.jsonl", OBJECTS)
    assert (tmp_path / "whole.jsonl").read_bytes() == path.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_an_empty_file_has_no_objects(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert json_lines.read(path) == []
    json_lines.mend_end(path)
    assert path.read_bytes() == b""


@pytest.mark.parametrize(
    "damage", [b'{"c": ', b"[1, 2]", b'{"c": NaN}', b"", b"[" * 100_000, b"\xff\xfe"]
)
def test_damage_is_mended_away_at_the_end_and_named_elsewhere(path, damage):
    whole = path.read_bytes()
    path.write_bytes(whole + damage)
    assert json_lines.read(path) == OBJECTS
    json_lines.mend_end(path)
    assert path.read_bytes() == whole
    path.write_bytes(damage + b"\n" + whole)
    with pytest.raises(DamagedLineError, match=r"found\.jsonl, line 1 is damaged"):
        json_lines.read(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("put", [json_lines.append, lambda p, line: json_lines.write(p, [line])])
def test_what_json_has_no_word_for_is_not_written(path, value, put):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        put(path, {"c": value})
    assert path.read_bytes() == before
