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


def test_objects_come_back(path):
    assert json_lines.read(path) == OBJECTS
    assert path.read_bytes().count(b"\n") == len(OBJECTS)


def test_write_is_append_at_once(path, tmp_path):
    json_lines.write(tmp_path / "whole.jsonl", OBJECTS)
    assert (tmp_path / "whole.jsonl").read_bytes() == path.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_an_empty_file_has_no_objects(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert json_lines.read(path) == []
    json_lines.mend_end(path)
    assert path.read_bytes() == b""


DAMAGES = {
    "torn": '{"c": ',
    "not an object": "[1, 2]",
    "NaN": '{"c": NaN}',
    "infinity": '{"c": -Infinity}',
    "blank": "",
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_last_line_is_left_out_and_mended_away(path, damage):
    whole = path.read_bytes()
    path.write_bytes(whole + DAMAGES[damage].encode())
    assert json_lines.read(path) == OBJECTS
    json_lines.mend_end(path)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_line_before_the_last_is_named(path, damage):
    first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([first, DAMAGES[damage], *rest]) + "\n")
    with pytest.raises(DamagedLineError, match=r"found\.jsonl, line 2 is damaged"):
        json_lines.read(path)


def test_bytes_that_are_no_text_are_damage(path):
    path.write_bytes(b"\xff\xfe\n" + path.read_bytes())
    with pytest.raises(DamagedLineError, match="line 1 is damaged"):
        json_lines.read(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_has_no_word_for_is_not_written(path, value):
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_lines.append(path, {"c": value})
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_lines.write(path, [{"c": value}])
    assert path.read_bytes() == before
