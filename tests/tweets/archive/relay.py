"""Stands before a service, counts what it is asked, takes its time, and does it wrong on demand."""

import ssl
import threading
import time
from contextlib import suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

# A refusal as S3 words it, with what nobody should read.
REFUSAL = b"<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>%s</AWSAccessKeyId></Error>"


class Relay:
    """`fault`: a status, "hang", "break off" or "fall short"; None: none. `first_answers`: those of
    the next requests. `asked`: method, path and range of each. `wait_s`: before each answer.
    `certificate`: a file with its key, for https."""

    def __init__(self, service, certificate=None):
        self.service = urlsplit(service).netloc
        self.fault, self.asked, self.wait_s = None, [], 0.0
        self.first_answers = []
        self.is_over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.relay = self
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self.address = f"https://localhost:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.is_over.set()
        self.close()

    def close(self):
        """From now on it refuses connections."""
        self._server.shutdown()
        self._server.server_close()
        self._server.close_connections()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, *args):
        super().__init__(*args)
        self._connections = []

    def process_request(self, request, client_address):
        self._connections.append(request)
        super().process_request(request, client_address)

    def close_connections(self):
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(2)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        relay = self.server.relay
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        relay.asked.append((self.command, self.path, self.headers.get("Range", "")))
        time.sleep(relay.wait_s)
        fault = relay.first_answers.pop() if relay.first_answers else relay.fault
        if fault == "hang":
            relay.is_over.wait()
        elif isinstance(fault, int):
            key = self.headers["Authorization"].split("Credential=")[1].split("/")[0]
            self.send(fault, [], REFUSAL % key.encode())
        else:
            self.send(*self.ask(body), fault)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

    def ask(self, body):
        connection = HTTPConnection(self.server.relay.service)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        return answer.status, answer.getheaders(), answer.read()

    def send(self, status, headers, body, fault=None):
        self.send_response_only(status)
        is_head = self.command == "HEAD"
        own = {"connection", "transfer-encoding"} | (set() if is_head else {"content-length"})
        for name, value in headers:
            if name.lower() not in own:
                self.send_header(name, value)
        if not is_head:
            half = len(body) // 2
            self.send_header("Content-Length", str(half if fault == "fall short" else len(body)))
            body = body[:half] if fault else body
        self.end_headers()
        self.wfile.write(body)
        if fault:
            self.close_connection = True

    def log_message(self, *args):
        """Nothing."""
