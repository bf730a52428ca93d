"""A PRD is read in one way, whoever asks, and however its letters are written."""

from pathlib import Path

import pytest

from ralph.adapters.library.folder import FolderLibrary
from ralph.core.errors import UnusableData
from ralph.workflows.discovery import ticked, wrong_with
from ralph.workflows.pipeline import PRD, Pipeline, prd_of
from ralph.workflows.planning import plan_errand

TEXT = "### [x] US-001: Größe\r\n- [x] ä\r\n"


def written(folder: Path, content: bytes) -> tuple[FolderLibrary, Pipeline]:
    path = folder / PRD
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return FolderLibrary(str(folder)), Pipeline(root=str(folder))


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_every_command_reads_it(tmp_path: Path, codec: str) -> None:
    library, pipeline = written(tmp_path, TEXT.encode(codec))
    assert [one.title for one in prd_of(library, pipeline).stories] == ["Größe"]
    assert plan_errand(library, pipeline).alias == "prd-plan"
    assert ticked(library, pipeline) == {"US-001": True}
    assert wrong_with(library, pipeline, {"US-001": True}) == ""


def test_what_is_no_text_is_refused_as_that(tmp_path: Path) -> None:
    library, pipeline = written(tmp_path, TEXT.encode("utf-16-le"))
    with pytest.raises(UnusableData, match="is not text"):
        plan_errand(library, pipeline)
