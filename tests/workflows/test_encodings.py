"""A PRD is read in one way, whoever asks, and however its letters are written."""

from pathlib import Path

import pytest

from ralph.adapters.project_files.folder import FolderFiles
from ralph.core.errors import UnusableData
from ralph.workflows.story_phases import prd_problem, story_plan_task, ticked_stories
from ralph.workflows.story_pipeline import PRD, StoryPipeline, load_prd

TEXT = "### [x] US-001: Größe\r\n- [x] ä\r\n"


def written(folder: Path, content: bytes) -> tuple[FolderFiles, StoryPipeline]:
    path = folder / PRD
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return FolderFiles(str(folder)), StoryPipeline(root=str(folder))


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_every_command_reads_it(tmp_path: Path, codec: str) -> None:
    project_files, pipeline = written(tmp_path, TEXT.encode(codec))
    assert [one.title for one in load_prd(project_files, pipeline).stories] == ["Größe"]
    assert story_plan_task(project_files, pipeline).alias == "prd-plan"
    assert ticked_stories(project_files, pipeline) == {"US-001": True}
    assert prd_problem(project_files, pipeline, {"US-001": True}) == ""


def test_what_is_no_text_is_refused_as_that(tmp_path: Path) -> None:
    project_files, pipeline = written(tmp_path, TEXT.encode("utf-16-le"))
    with pytest.raises(UnusableData, match="is not text"):
        story_plan_task(project_files, pipeline)
