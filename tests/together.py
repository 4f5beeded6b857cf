"""Acts that run at the same time, each in a thread with a connection of its own."""

import threading

from django.db import connection


def together(*acts, within=240):
    """Begin all at once and wait for their ends; their errors."""
    start, errors = threading.Barrier(len(acts)), []

    def run(act):
        try:
            connection.ensure_connection()
            start.wait(60)
            act()
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(within)
    assert not any(thread.is_alive() for thread in threads)
    return errors
