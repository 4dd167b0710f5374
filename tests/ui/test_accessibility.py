"""axe looks at every view, in both themes and on a phone: no serious finding."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from dcoco_viz.page import VIEWS
from tests.ui.reading import SETTLE, wait_for_cycles


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [1280, 390])
def test_no_serious_finding(visit, replay, recorded, view, theme, width):
    page = visit(f"{replay}?view={view}", viewport={"width": width, "height": 900}, color_scheme=theme)
    wait_for_cycles(page, len(recorded[1][0].cycles))
    page.wait_for_function(f"document.body.dataset.view === '{view}'")
    page.evaluate(SETTLE)
    assert page.evaluate("document.body.classList.contains('dark')") == (theme == "dark")
    found = Axe().run(page).response["violations"]
    serious = [
        f"{v['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for v in found
        if v["impact"] in ("serious", "critical")
        for node in v["nodes"][:3]
    ]
    assert not serious, "\n".join(serious)
