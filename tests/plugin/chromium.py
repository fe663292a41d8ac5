"""A real Chromium, driven from a test; nothing is downloaded for it."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

AXE = (Path(__file__).parents[1] / "vendor" / "axe-core" / "axe-4.14.1.min.js").read_text("utf-8")
BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
DRIVER = shutil.which("chromedriver")
MISSING = "no Chromium with its driver on this machine: apt-get install chromium chromium-driver"
REMOTE = ("http", "https", "ws", "wss", "ftp")  # the tab with which a browser starts has addresses of its own
# the pages of the console that are of no person, place or memory
LISTS = ("memories", "running", "people", "places", "jobs", "settings", "prompts", "records", "transfers")
OF_NOBODY = {"today": "/", "report": "/report?examine=yes", "setting": "/settings?group=record"}
OF_NOBODY |= {name: f"/{name}" for name in LISTS}
DESKTOP, TABLET, PHONE = (1440, 900), (1024, 768), (390, 844)
TALLEST = 3_000  # pixels of a picture
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--lang=zh-CN"),
    *("--disable-dev-shm-usage", "--force-device-scale-factor=1", "--disable-features=Translate,OptimizationHints"),
)
_RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then(found => done(found.violations.map(one => ({
  id: one.id, impact: one.impact, help: one.help, nodes: one.nodes.slice(0, 4).map(node => node.html),
}))));
"""


@dataclass
class Browser:
    """A page in a browser: it is looked at, clicked and typed into; blocking."""

    driver: Any
    origin: str

    def open(self, path: str) -> None:
        """Open an address of the console."""
        self.driver.get(f"{self.origin}{path}")

    def one(self, selector: str) -> Any:
        """Return the first element that a CSS selector finds."""
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        """Return the elements that a CSS selector finds."""
        return self.driver.find_elements("css selector", selector)

    def type(self, selector: str, text: str) -> None:
        """Replace the content of a field."""
        field = self.one(selector)
        field.clear()
        field.send_keys(text)

    def click(self, selector: str) -> None:
        """Click an element."""
        element = self.one(selector)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def until(self, condition: Any) -> Any:
        """Wait until a condition of the page holds, at most 30 s; while a page is replaced, it does not."""
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.support.wait import WebDriverWait

        return WebDriverWait(self.driver, 30, ignored_exceptions=[WebDriverException]).until(lambda _: condition())

    def text(self) -> str:
        """Return the text that is shown."""
        return self.one("body").text

    def resize(self, size: tuple[int, int], *, dark: bool) -> None:
        """Show the page at a size, in dark or light colours."""
        command = self.driver.execute_cdp_cmd
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        command("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "reduce"}  # a colour that fades is none to examine
        command("Emulation.setEmulatedMedia", {"features": [scheme, still]})

    def serious(self) -> list[dict[str, Any]]:
        """Return the serious and critical findings of the accessibility check."""
        self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE})
        found = self.driver.execute_async_script(_RUN_AXE)
        return [one for one in found if one["impact"] in ("serious", "critical")]

    def complaints(self) -> list[str]:
        """Return what the console of the browser says that is more than information."""
        return [one["message"] for one in self.driver.get_log("browser") if one["level"] in ("WARNING", "SEVERE")]

    def foreign_requests(self) -> list[str]:
        """Return the addresses of another origin that were asked for since the last call."""
        own, asked = urlsplit(self.origin).netloc, []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return [url for url in asked if urlsplit(url).scheme in REMOTE and urlsplit(url).netloc != own]

    def is_scrolled_sideways(self) -> bool:
        """Return whether the page is wider than the window."""
        return self.driver.execute_script(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"
        )

    def picture(self, path: Path, *, is_whole: bool = False) -> None:
        """Store a picture of what is shown, or of the whole page."""
        options = {"format": "png", "captureBeyondViewport": is_whole}
        if is_whole:
            size = self.driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
            options["clip"] = {**size, "height": min(size["height"], TALLEST), "scale": 1}
        path.write_bytes(base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"]))


@contextmanager
def browser(origin: str) -> Iterator[Browser]:
    """Start a browser with an empty profile, and end it with the block."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(prefix="cognitive-memory-chromium-") as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER or ""
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.add_experimental_option("prefs", {"intl.accept_languages": "zh-CN,zh"})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        driver.set_page_load_timeout(60)
        driver.set_script_timeout(60)
        try:
            yield Browser(driver, origin)
        finally:
            driver.quit()
