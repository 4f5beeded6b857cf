"""Between a client and the fake X, over real HTTP: keeps what both send, and changes nothing."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import urllib3

from tests.xapi.openapi import Exchange

# Of one connection only, or made anew for what is passed on; compressed is nothing.
_NOT_PASSED_ON = {
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "transfer-encoding",
}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # hung up, as clients may
            super().handle_error(request, client_address)


class Relay:
    """Listens at `url` until it is closed; `exchanges` are all so far, in order."""

    def __init__(self, fake_url):
        self.exchanges = []
        self._pool = urllib3.PoolManager(maxsize=20, retries=False)
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def _pass_on(self):
                path, _, query = self.path.partition("?")
                sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                exchange = Exchange(self.command, path, query, sent)
                answer = relay._pool.request(
                    self.command,
                    fake_url + self.path,
                    body=sent or None,
                    headers=_kept(self.headers.items()),
                    preload_content=False,
                    decode_content=False,
                    redirect=False,
                )
                exchange.status, exchange.kind = answer.status, answer.headers["Content-Type"]
                relay.exchanges.append(exchange)
                self.send_response_only(answer.status)
                for name, value in _kept(answer.headers.items()).items():
                    self.send_header(name, value)
                # As it comes: a stream has no end.
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                with suppress(OSError, urllib3.exceptions.HTTPError):
                    while piece := answer.read1(65536):
                        exchange.answer += piece
                        self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                    self.wfile.write(b"0\r\n\r\n")
                answer.close()

            do_GET = do_POST = do_DELETE = _pass_on

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._pool.clear()


def _kept(headers):
    return {name: value for name, value in headers if name.lower() not in _NOT_PASSED_ON}
