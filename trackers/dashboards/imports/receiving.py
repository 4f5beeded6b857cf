"""Where an uploaded file lies while its request lasts: on disk, without a name.

The kernel takes it away with the process, whatever that dies of.
"""

from __future__ import annotations

import tempfile
from typing import IO, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler


class Unnamed(FileUploadHandler):
    chunk_size = 1 << 18

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        # It is open for as long as the request has it.
        self.file: IO[bytes] = tempfile.TemporaryFile(  # noqa: SIM115
            dir=settings.FILE_UPLOAD_TEMP_DIR
        )

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> UploadedFile:
        self.file.seek(0)
        return UploadedFile(self.file, self.file_name, self.content_type, file_size)

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
