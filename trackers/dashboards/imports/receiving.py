"""Where an uploaded file is kept while its request lasts: on disk, without a name.

The kernel removes it when the process ends, however that happens.
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
        # Open as long as the request holds it.
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
