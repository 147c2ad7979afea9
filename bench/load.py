"""The service under load: `load.py SERVER PROGRAM SECONDS` with the two executables; writes JSON.

Eight clients send the same lines that `frostpane ingest` reads from disk, on the same machine and its
processors; another client reads the latest release repeatedly; a thousand listen for releases; at the end
more events arrive than can be stored.
"""

import http.client
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CLIENTS, LINES, BODIES, LISTENERS = 8, 20_000, 16, 1_000
SPEC = {"window": 1_000_000, "slide": 50_000, "top": 20, "continual": True}


def body(number: int) -> bytes:
    """Lines of JSON with Zipf-distributed keys."""
    chance = random.Random(number)
    keys = (int(chance.paretovariate(0.8)) % 1_000_000 for _ in range(LINES))
    return "".join(f'{{"key":"search {key}"}}\n' for key in keys).encode()


def quantiles(times: list[float]) -> dict[str, float]:
    times = sorted(times)
    at = {"p50": 0.5, "p99": 0.99}
    return {name: round(1000 * times[int(share * (len(times) - 1))], 2) for name, share in at.items()}


class Server:
    """A service in a temporary folder, with one stream."""

    def __init__(self, program: str, folder: Path) -> None:
        scopes = [f"--scope={scope}" for scope in ("ingest", "read", "release", "admin")]
        add = [program, "token", "add", str(folder), "--producer=load", *scopes]
        self.token = subprocess.run(add, check=True, capture_output=True, text=True).stdout.strip()
        command = [program, str(folder), "--listen=127.0.0.1:0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = ""
        while "listening on" not in line:
            line = self.process.stderr.readline()
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.port = int(line.rsplit(":", 1)[1])
        self.ask("PUT", "/v1/streams/load?public=true", json.dumps(SPEC).encode())

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def send(self, to: http.client.HTTPConnection, method: str, path: str, data: bytes = b"") -> int:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/x-ndjson"}
        to.request(method, path, data, headers)
        answer = to.getresponse()
        answer.read()
        return answer.status

    def ask(self, method: str, path: str, data: bytes = b"") -> int:
        return self.send(self.connect(), method, path, data)

    def memory(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1000

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def listeners(server: Server) -> tuple[int, float]:
    """How many of a thousand listeners receive the next release, and the time of the last one."""
    request = (
        b"GET /v1/streams/load/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + server.token.encode()
    )
    sockets = []
    for _ in range(LISTENERS):
        listener = socket.create_connection(("127.0.0.1", server.port))
        listener.sendall(request + b"\r\n\r\n")
        sockets.append(listener)
    time.sleep(2)
    poll = select.epoll()
    heard = {}
    for listener in sockets:
        listener.setblocking(False)
        try:
            while listener.recv(1 << 16):
                pass
        except BlockingIOError:
            pass
        poll.register(listener, select.EPOLLIN)
        heard[listener.fileno()] = listener
    began = time.monotonic()
    for number in range(3):
        server.ask("POST", "/v1/streams/load/events", body(number))
    while heard and time.monotonic() - began < 30:
        for found, _ in poll.poll(1):
            if found in heard and b"event: release" in heard[found].recv(1 << 16):
                del heard[found]
    took = time.monotonic() - began
    for listener in sockets:
        listener.close()
    return LISTENERS - len(heard), took


def under_load(server: Server, bodies: list[bytes], seconds: float) -> dict:
    ingest, latest, memory, counts = [], [], [], []
    until = time.monotonic() + seconds

    def client(number: int) -> None:
        connection, sent = server.connect(), 0
        while time.monotonic() < until:
            began = time.monotonic()
            status = server.send(
                connection, "POST", "/v1/streams/load/events", bodies[(number + sent) % BODIES]
            )
            if status == 200:
                ingest.append(time.monotonic() - began)
                sent += 1
        counts.append(sent)

    def reader() -> None:
        connection = server.connect()
        while time.monotonic() < until:
            began = time.monotonic()
            server.send(connection, "GET", "/v1/streams/load/releases/latest")
            latest.append(time.monotonic() - began)
            time.sleep(0.01)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    threads.append(threading.Thread(target=reader))
    for thread in threads:
        thread.start()
    while time.monotonic() < until:
        memory.append(server.memory())
        time.sleep(seconds / 30)
    for thread in threads:
        thread.join()
    return {
        "events_per_second": round(sum(counts) * LINES / seconds),
        "requests": sum(counts),
        "ingest_ms": quantiles(ingest),
        "latest_ms": quantiles(latest),
        "memory_mb": [round(part) for part in memory],
    }


def overload(server: Server, data: bytes) -> dict:
    """Far more requests at once than the queue holds."""
    answers, large = [], data * 40

    def client() -> None:
        for _ in range(6):
            try:
                answers.append(server.ask("POST", "/v1/streams/load/events", large))
            except OSError:
                answers.append("cut off")

    threads = [threading.Thread(target=client) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(1)
    after = server.ask("POST", "/v1/streams/load/events", data)
    return {
        "answers": {str(status): answers.count(status) for status in sorted(set(answers), key=str)},
        "after": after,
    }


def from_disk(program: str, folder: Path, bodies: list[bytes], times: int) -> float:
    """Events per second of `frostpane ingest` with the same lines."""
    folder.mkdir()
    file = folder / "lines.jsonl"
    with file.open("wb") as out:
        for _ in range(times):
            out.writelines(bodies)
    spec = folder / "spec.json"
    spec.write_text(json.dumps(SPEC))
    state = str(folder / "state")
    subprocess.run(
        [program, "init", state, "--spec", str(spec), "--key", "key"], check=True, capture_output=True
    )
    began = time.monotonic()
    subprocess.run([program, "ingest", state, str(file)], check=True, capture_output=True)
    return times * len(bodies) * LINES / (time.monotonic() - began)


def main() -> None:
    server_program, program, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    bodies = [body(number) for number in range(BODIES)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        disk = [from_disk(program, folder / f"disk {turn}", bodies, 30) for turn in range(2)]
        server = Server(server_program, folder / "service")
        loaded = under_load(server, bodies, seconds)
        disk += [from_disk(program, folder / f"disk {turn}", bodies, 30) for turn in range(2, 4)]
        heard, took = listeners(server)
        over = overload(server, bodies[0])
        server.stop()
    result = {
        "clients": CLIENTS,
        "seconds": seconds,
        "processors": os.cpu_count(),
        "lines_per_request": LINES,
        "from_disk_events_per_second": [round(speed) for speed in disk],
        **loaded,
        "listeners": {"heard": heard, "of": LISTENERS, "seconds": round(took, 2)},
        "overload": over,
    }
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
