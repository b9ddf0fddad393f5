"""Check in headless Chromium that the graphs of the dashboard are drawn."""

import functools
import html as markup
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 180

# Open every graph in a separate frame and count the coloured pixels of its canvas: axes and grid
# are grey, the curves are not.
PAGE = """<!doctype html><title>check</title><pre id="found"></pre><script>
const names = %s, found = {};
const pause = ms => new Promise(done => setTimeout(done, ms));
function coloured(frame) {
  const canvas = frame.contentDocument && frame.contentDocument.querySelector("canvas.flot-base");
  if (!canvas || !canvas.width) return 0;
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    const c = [pixels[i], pixels[i + 1], pixels[i + 2]];
    if (pixels[i + 3] > 128 && Math.max(...c) - Math.min(...c) > 60) count++;
  }
  return count;
}
async function look(name) {
  const frame = document.createElement("iframe");
  frame.width = 1200;
  frame.height = 900;
  frame.src = "index.html#" + name;
  document.body.append(frame);
  for (let tries = 0; tries < 60 && !coloured(frame); tries++) await pause(250);
  found[name] = coloured(frame);
  frame.remove();
}
(async () => {
  for (const name of names) await look(name);
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


def check(folder, names):
    """Check that the graphs of some benchmarks are drawn.

    Parameters
    ----------
    folder : path of the published HTML
    names : list of str
        Full names of benchmarks.

    Returns
    -------
    int
        Exit status: 0 if all are drawn, and also without a browser unless in continuous
        integration (``CI`` is set).
    """
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        print("the graphs were not checked: Chromium is not installed")
        return 1 if os.environ.get("CI") else 0
    known = json.loads(Path(folder, "index.json").read_text())["benchmarks"]
    if not names or not set(names) <= set(known):
        print("not published:", *(set(names) - set(known) or ["any benchmark"]), file=sys.stderr)
        return 1
    found = _pixels(browser, folder, names)
    if found is None:
        return 1
    for name in names:
        print(f"{found.get(name, 0):7d} coloured pixels  {name}")
    empty = [name for name in names if not found.get(name)]
    if empty:
        print("no graph drawn for:", *empty, file=sys.stderr)
    return 1 if empty else 0


def _pixels(browser, folder, names):
    """Return the coloured pixels of each benchmark's graph, or None if the browser fails."""
    with (
        _serving(folder, PAGE % json.dumps(names)) as address,
        tempfile.TemporaryDirectory() as home,
    ):
        command = [browser, "--headless=new", "--disable-gpu", f"--user-data-dir={home}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")
        budget = 20_000 * len(names)
        command += [f"--virtual-time-budget={budget}", "--dump-dom", f"{address}/check.html"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            print(f"the browser did not finish within {SECONDS} s", file=sys.stderr)
            return None
    answer = re.search(r'<pre id="found">(.+?)</pre>', done.stdout, re.S)
    if answer is None:
        print(f"the browser gave no answer:\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    return json.loads(markup.unescape(answer[1]))


class _serving:
    """Context manager of a local HTTP server for a folder and one additional page."""

    def __init__(self, folder, page):
        class Handler(SimpleHTTPRequestHandler):
            def do_GET(self):
                if self.path != "/check.html":
                    return super().do_GET()
                content = page.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        handler = functools.partial(Handler, directory=str(folder))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()
