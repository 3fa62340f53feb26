"""A headless Chromium, driven through chromedriver by its plain WebDriver calls. Needs nothing but Python's own library."""

import base64
import json
import subprocess
import tempfile
import urllib.request

CHROMIUM = [
    "--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-default-apps", "--hide-scrollbars", "--no-sandbox", "--disable-dev-shm-usage",
]


class Browser:
    """Used in a `with` statement; `get` opens a page in a window of a width and height in CSS pixels."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory()
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.rstrip().rstrip(".").rsplit(" ", 1)[1]
                break
        else:
            raise RuntimeError("chromedriver did not start")
        self.url = f"http://127.0.0.1:{port}/session"
        options = {"args": CHROMIUM + [f"--user-data-dir={self.profile.name}"]}
        logs = {"browser": "ALL", "performance": "ALL"}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": logs}
        answer = self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.url += "/" + answer["sessionId"]
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def get(self, url, width=1280, height=900, scheme="light"):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.logs()
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of a script's `return`."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments):
        """Runs a script until it returns something true; that, or None after five seconds."""
        waiting = """const [text, given, done] = arguments; const f = new Function(text); const end = Date.now() + 5000;
            const look = () => { const found = f(...given); found || Date.now() > end ? done(found || null) : requestAnimationFrame(look); };
            look();"""
        return self.call("POST", "/execute/async", {"script": waiting, "args": [script, list(arguments)]})

    def press(self, *keys):
        """Presses and releases each key, wherever the focus is."""
        presses = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": presses}]})

    def point(self, x, y):
        """Moves the mouse to a place of the window, in CSS pixels."""
        moves = [{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 20}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves}]})

    def logs(self):
        """What the console said, and which addresses were asked for, since the last time."""
        said = [f"{entry['level']}: {entry['message']}" for entry in self.call("POST", "/se/log", {"type": "browser"})]
        events = [json.loads(entry["message"])["message"] for entry in self.call("POST", "/se/log", {"type": "performance"})]
        asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return said, asked

    def screenshot(self, path, whole=False):
        shot = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self.call("POST", "/print", {"background": False}))
